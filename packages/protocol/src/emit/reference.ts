import { ERRORS } from '../errors/errors.ts';
import { EVENT_CATALOGUE } from '../events/event-catalogue.ts';
import { WEFT_EVENTS } from '../events/catalogue/weft.ts';
import { errorCodesOf } from './openapi.ts';
import { ENDPOINTS, pathOf } from '../routes/endpoints.ts';
import type { Parameter } from '../routes/route-description.ts';
import { operationOf, type Route, ROUTES } from '../routes/routes.ts';
import { componentName } from './named-schemas.ts';
import { SCHEMA_NAMES } from './schema-document.ts';
import { STREAM_MODES, type StreamMode } from '../events/stream-mode-names.ts';

/** The reference pages, made from the tables, so that they cannot say something else. */

export interface ReferencePage {
  /** Path inside docs/reference. */
  readonly file: string;
  readonly markdown: string;
}

export function renderReference(): readonly ReferencePage[] {
  return [
    { file: 'events.md', markdown: eventsPage() },
    { file: 'errors.md', markdown: errorsPage() },
    { file: 'stream-modes.md', markdown: streamModesPage() },
    { file: 'http.md', markdown: httpPage() },
    { file: 'documents.md', markdown: documentsPage() },
  ];
}

const GENERATED = '<!-- Generated from the tables in packages/protocol; change those. -->';

function page(title: string, intro: string, ...sections: string[]): string {
  return `${[GENERATED, `# ${title}`, intro, ...sections].join('\n\n')}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const code = (text: string) => `\`${text}\``;
const codes = (texts: readonly string[]) => (texts.length === 0 ? '—' : texts.map(code).join(', '));

interface PayloadShape {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

function eventsPage(): string {
  const all = [...EVENT_CATALOGUE, ...WEFT_EVENTS];
  const families = [...new Set(all.map((row) => row.family))];
  const sections = families.map((family) => {
    const rows = all
      .filter((row) => row.family === family)
      .map((row) => {
        const { required = [], properties = {} } = row.payload as PayloadShape;
        const optional = Object.keys(properties).filter((name) => !required.includes(name));
        const name = row.closed ? `${code(row.type)} (closed)` : code(row.type);
        return [name, row.modes.join(', '), codes(required), codes(optional), row.summary];
      });
    const head = ['type', 'modes', 'required payload', 'optional payload', 'meaning'];
    return `## ${heading(family)}\n\n${table(head, rows)}`;
  });
  return page(
    'Events',
    `The ${EVENT_CATALOGUE.length} event types of the protocol. "values" among the modes means that a snapshot follows ` +
      'the event in that mode. A closed payload admits no other members. Types with a vendor’s prefix may occur beside ' +
      'these and are shown in debug mode and polls only; those of this host stand last. Not every host emits every type.',
    ...sections,
  );
}

function heading(family: string): string {
  const words = family.replaceAll('-', ', ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(([name, row]) => [code(name), String(row.status), row.advice]);
  return page(
    'Errors',
    'Every answer outside 2xx and 3xx has the same closed body: `error` (a code from this table), `message` (for people) ' +
      'and, where it helps, `details` (an object). Programs branch on `error`.',
    table(['error', 'status', 'what to do'], rows),
  );
}

const MODE_MEANING: Readonly<Record<StreamMode, string>> = {
  values:
    'A `state.snapshot` after each event that changes what a snapshot shows. Cannot be mixed with other modes.',
  updates: 'The events that mark progress. The default.',
  messages: 'Streamed output only, as `ai.message.chunk`.',
  debug: 'Every event of the log, also those of vendors.',
};

function streamModesPage(): string {
  const meaning = STREAM_MODES.map((mode) => [code(mode), MODE_MEANING[mode]]);
  const shown = EVENT_CATALOGUE.filter((row) => row.modes.length > 1).map((row) => [
    code(row.type),
    ...STREAM_MODES.map((mode) => (row.modes.includes(mode) ? 'yes' : '')),
  ]);
  return page(
    'Stream modes',
    `How ${code(operationOf(ENDPOINTS.streamRunEvents))} shows a log, ` +
      'by the query parameter `streamMode`: one mode, or several separated by commas. Polls are never filtered.',
    table(['mode', 'shows'], meaning),
    '## Events by mode\n\nEvery event that is not listed is shown in `debug` only.',
    table(['type', ...STREAM_MODES], shown),
  );
}

function httpPage(): string {
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
    table(['operation', 'scope', 'what it does'], overview),
    ...ROUTES.map(routeSection),
  );
}

const FILES = '../../packages/protocol/documents';

function documentsPage(): string {
  const documents = [
    [
      'OpenAPI 3.1',
      'openapi',
      pathOf('getOpenApiSpec'),
      'Every operation, with its parameters, bodies, headers and errors.',
    ],
    [
      'AsyncAPI 3.1',
      'asyncapi',
      pathOf('getAsyncApiSpec'),
      'The event streams: a channel per stream mode, a message per event.',
    ],
  ].map(([title, name, path, holds]) => [`[${title}](${FILES}/${name}.json)`, code(path ?? ''), holds ?? '']);
  const schemas = SCHEMA_NAMES.map((name) => [
    `[${name}](${FILES}/schemas/${name}.json)`,
    code(componentName(name)),
  ]);
  return page(
    'Documents',
    'What a host publishes for programs. Each document is complete in itself: it refers to nothing outside. No key is needed to read them, ' +
      'and the same files stand in `@weft/protocol`, as `@weft/protocol/openapi.json`, `@weft/protocol/asyncapi.json` and ' +
      '`@weft/protocol/schemas/run-snapshot.json`. What may change in them: [compatibility](../compatibility.md).',
    table(['document', 'served at', 'holds'], documents),
    `## Schemas\n\nJSON Schema 2020-12, served at ${code(ENDPOINTS.getSchema.path)}.`,
    table(['schema', 'in the documents'], schemas),
  );
}

function scopeText({ scope, alsoScope }: Route): string {
  if (scope === null) return 'none';
  return alsoScope === undefined ? code(scope) : `${code(scope)} and ${code(alsoScope)}`;
}

function routeSection(route: Route): string {
  const answers = Object.entries(route.responses).map(
    ([status, answer]) => `${status}: ${answer.description}`,
  );
  const errors = errorCodesOf(route).map((name) => `${code(name)} (${ERRORS[name].status})`);
  return [
    `## ${route.method} ${route.path}`,
    route.summary,
    ...parameterTable('Query', route.query),
    ...parameterTable('Header', route.headers),
    ...(route.request === undefined ? [] : [bodyLine(route.request)]),
    `Answers — ${answers.join(' ')}`,
    `Errors — ${errors.join(', ')}`,
  ].join('\n\n');
}

function bodyLine(request: NonNullable<Route['request']>): string {
  const shape = request.schema as PayloadShape & { readonly allOf?: readonly PayloadShape[] };
  const parts = [shape, ...(shape.allOf ?? [])];
  const required = parts.flatMap((part) => part.required ?? []);
  const all = parts.flatMap((part) => Object.keys(part.properties ?? {}));
  const optional = all.filter((name) => !required.includes(name));
  const needed = request.required ? 'required' : 'optional';
  if (all.length === 0) return `Body (${needed}) — a JSON object.`;
  return `Body (${needed}) — required: ${codes(required)}; optional: ${codes(optional)}.`;
}

function parameterTable(title: string, parameters: readonly Parameter[] = []): string[] {
  if (parameters.length === 0) return [];
  return [
    table(
      [title, 'meaning'],
      parameters.map(({ name, description, required }) => [
        code(name),
        required === true ? `${description} Required.` : description,
      ]),
    ),
  ];
}
