import type { TSchema } from 'typebox';
import { ERRORS } from '../errors/errors.ts';
import type { Json } from '../json/json.ts';
import { ENDPOINTS } from '../routes/endpoints.ts';
import type { Answer, Parameter } from '../routes/route-description.ts';
import { operationOf, type Route, ROUTES } from '../routes/routes.ts';
import { HTTP_EXAMPLES } from './http-examples.ts';
import { code, page, table } from './markdown.ts';
import { errorCodesOf } from './openapi.ts';
import { BY_NAME, exampleOf } from './schema-example.ts';

/** The page of every operation: its parameters and documents with their types, and an example. */
export function httpPage(): string {
  const overview = ROUTES.map((route) => [
    code(`${route.method} ${route.path}`),
    scopeText(route),
    route.summary,
  ]);
  return page(
    'HTTP',
    'Every operation of this host. A scope is what the key in `Authorization: Bearer` must hold. The same, for programs: ' +
      `${code(operationOf(ENDPOINTS.getOpenApiSpec))} ([documents](documents.md)). What may change: [compatibility](../compatibility.md). ` +
      'Ids, names, tags, versions, principals, tenants, codes and keys (`"format": "name"` there) hold ' +
      'no control character (U+0000–001F, 007F–009F), no bidirectional control (U+202A–202E, 2066–2069) and no half of a ' +
      'surrogate pair; a request with one is refused with `validation_error`, which names the field.',
    'Members in bold are always there, or needed in a request. A request with a member that is not listed is refused; an answer may ' +
      'hold more. In the examples, `$WEFT_URL` is the host and `$KEY` an API key; answers are shortened to the members that are always there.',
    table(['operation', 'scope', 'what it does'], overview),
    ...ROUTES.map(routeSection),
  );
}

function scopeText({ scope, alsoScope }: Route): string {
  if (scope === null) return 'none';
  return alsoScope === undefined ? code(scope) : `${code(scope)} and ${code(alsoScope)}`;
}

function routeSection(route: Route): string {
  const errors = errorCodesOf(route).map((name) => `${code(name)} (${ERRORS[name].status})`);
  return [
    `## ${route.method} ${route.path}`,
    route.summary,
    ...parameterTable('Query', route.query),
    ...parameterTable('Header', route.headers),
    ...bodySection(route),
    ...Object.entries(route.responses).flatMap(([status, answer]) => answerSection(status, answer)),
    `Errors — ${errors.join(', ')}`,
    exampleSection(route),
  ].join('\n\n');
}

function parameterTable(title: string, parameters: readonly Parameter[] = []): string[] {
  if (parameters.length === 0) return [];
  const rows = parameters.map(({ name, schema, description, required }) => [
    required === true ? `**${code(name)}**` : code(name),
    typeOf(schema as Shape),
    description,
  ]);
  return [table([title, 'type', 'meaning'], rows)];
}

function bodySection({ request }: Route): string[] {
  if (request === undefined) return [];
  const title = request.required ? 'Body' : 'Body (optional)';
  return memberTable(title, request.schema) ?? [`${title} — a JSON object.`];
}

function answerSection(status: string, { description, schema, contentType }: Answer): string[] {
  const kind =
    contentType === undefined || contentType === 'application/json' ? '' : ` (${code(contentType)})`;
  const members = schema === undefined ? undefined : memberTable('Member', schema);
  return [`Answer ${status}${kind} — ${description}`, ...(members ?? [])];
}

/** What our schemas say that a person wants to read. */
interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly anyOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

function memberTable(title: string, shape: Shape): string[] | undefined {
  const parts = [shape, ...(shape.allOf ?? [])];
  const required = new Set(parts.flatMap((part) => part.required ?? []));
  const members = parts.flatMap((part) => Object.entries(part.properties ?? {}));
  if (members.length === 0) return undefined;
  const rows = members.map(([name, member]) => [
    required.has(name) ? `**${code(name)}**` : code(name),
    typeOf(member),
    member.description ?? '',
  ]);
  return [table([title, 'type', 'meaning'], rows)];
}

/** How many alternatives are spelled out. */
const MOST_VALUES = 12;

function typeOf(shape: Shape): string {
  if (shape.const !== undefined) return code(JSON.stringify(shape.const));
  if (shape.enum !== undefined) {
    const shown = shape.enum.slice(0, MOST_VALUES).map((value) => code(String(value)));
    return shown.join(', ') + (shape.enum.length > shown.length ? ', …' : '');
  }
  if (shape.anyOf !== undefined) return [...new Set(shape.anyOf.map(typeOf))].join(' or ');
  if (shape.allOf !== undefined) return 'object';
  if (shape.type === 'array')
    return `list of ${shape.items === undefined ? 'anything' : typeOf(shape.items)}${atMost(shape.maxItems)}`;
  if (shape.type === 'object') return objectType(shape);
  if (shape.type === 'string') return `${textType(shape.format)}${atMost(shape.maxLength, ' characters')}`;
  return `${shape.type ?? 'anything'}${rangeOf(shape)}`;
}

function objectType({ properties = {} }: Shape): string {
  const names = Object.keys(properties);
  return names.length === 0 ? 'object' : `object: ${names.map(code).join(', ')}`;
}

function textType(format: string | undefined): string {
  if (format === 'date-time') return 'time (ISO 8601)';
  return format === 'uri' ? 'URI' : 'string';
}

function atMost(count: number | undefined, unit = ''): string {
  return count === undefined ? '' : `, at most ${count.toLocaleString('en-US')}${unit}`;
}

function rangeOf({ minimum, maximum }: Shape): string {
  if (minimum === undefined && maximum === undefined) return '';
  const least = (minimum ?? 0).toLocaleString('en-US');
  return maximum === undefined ? `, ${least} or more` : `, ${least} to ${maximum.toLocaleString('en-US')}`;
}

function exampleSection(route: Route): string {
  const { query } = HTTP_EXAMPLES[route.operationId] ?? {};
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(BY_NAME[name] ?? name));
  const url = `"$WEFT_URL${path}${query === undefined ? '' : `?${query}`}"`;
  const body = route.request === undefined ? undefined : requestExample(route);
  const lines = [
    `curl${route.method === 'GET' ? '' : ` -X ${route.method}`} ${url}`,
    ...(route.scope === null ? [] : ['-H "Authorization: Bearer $KEY"']),
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
        ]),
  ];
  const answer = answerExample(route);
  return [
    '```sh',
    lines.join(' \\\n  '),
    '```',
    ...(answer?.schema === undefined ? [] : ['', '```json', JSON.stringify(answer.example, null, 2), '```']),
  ].join('\n');
}

export function requestExample({ operationId, request }: Route): Json {
  return HTTP_EXAMPLES[operationId]?.body ?? exampleOf(request?.schema ?? {});
}

/** Of the first answer that has a document. */
export function answerExample({
  responses,
}: Route): { schema: TSchema | undefined; example: Json } | undefined {
  const [answer] = Object.values(responses);
  if (answer === undefined) return undefined;
  const { schema, contentType = 'application/json' } = answer;
  if (schema === undefined || contentType !== 'application/json') return { schema: undefined, example: null };
  return { schema, example: exampleOf(schema) };
}
