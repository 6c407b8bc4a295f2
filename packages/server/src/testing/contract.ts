import {
  assertValid,
  compileValidator,
  createSseParser,
  ERRORS,
  isJsonObject,
  type Json,
  type JsonObject,
  openApiDocument,
  PACKS_PATH,
  ROUTES,
  type SseEvent,
  type Validator,
} from '@weft/protocol';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/**
 * Holds an answer against the OpenAPI document that hosts publish: status, headers and body. What the document does not say is a
 * failure, but for paths that are not served at all, which get the error envelope.
 */
export interface Exchange {
  readonly method: string;
  /** With query. */
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders | OutgoingHttpHeaders;
  readonly text: string;
}

/** Of HTTP itself, whatever is served. */
const HEADERS_OF_HTTP = new Set(
  'allow connection content-length content-type date keep-alive transfer-encoding'.split(' '),
);

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, JsonObject>>;
}

// Validators take one schema with its definitions; the document keeps them under its components.
const document = JSON.parse(
  JSON.stringify(openApiDocument()).replaceAll('#/components/schemas/', '#/$defs/'),
) as { paths: Record<string, Record<string, Operation>>; components: Record<string, JsonObject> };
const { schemas = {}, headers: headerObjects = {}, responses: sharedResponses = {} } = document.components;

export function checkExchange(exchange: Exchange): void {
  // HEAD is GET without the body, wherever that is served: the document need not say so.
  const isHead = exchange.method === 'HEAD';
  const operation = findOperation(isHead ? 'GET' : exchange.method, exchange.url);
  if (operation === undefined) return checkUnserved(exchange);
  const response = resolved(operation.responses[exchange.status], sharedResponses);
  const of = `${operation.operationId}, ${exchange.status}`;
  if (response === undefined) throw new Error(`${of}: the document does not have this status`);
  checkHeaders(exchange, response, of);
  if (isHead) return;
  checkBody(exchange, response, of);
  if (exchange.status >= 400) checkCode(exchange, response, of);
}

function findOperation(method: string, url: string): Operation | undefined {
  const path = url.split('?', 1)[0] ?? '';
  if (/%(?![0-9a-f]{2})/i.test(path)) return undefined;
  const route = ROUTES.find(
    (candidate) =>
      candidate.method === method &&
      [candidate.path, candidate.alias ?? candidate.path].some((form) => matches(form, path)),
  );
  return route === undefined ? undefined : document.paths[route.path]?.[method.toLowerCase()];
}

function matches(form: string, path: string): boolean {
  const pattern = form.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/:]+');
  return new RegExp(`^${pattern}$`).test(path);
}

/** Paths of a registry are answered as text: its clients take JSON for one. */
function checkUnserved({ method, url, status, headers, text }: Exchange): void {
  if (status < 400) throw new Error(`${method} ${url} answered ${status} and is not in the document`);
  if (url.startsWith(PACKS_PATH) && String(headers['content-type']).startsWith('text/plain')) return;
  assertValid(validatorOf(schemas['ErrorEnvelope'] ?? false), JSON.parse(text), 'The envelope');
  checkStatus(text, status);
}

function checkHeaders({ headers }: Exchange, response: JsonObject, of: string): void {
  const known = new Map<string, JsonObject>();
  for (const [name, header] of Object.entries(isJsonObject(response['headers']) ? response['headers'] : {}))
    known.set(name.toLowerCase(), resolved(header, headerObjects) ?? {});
  for (const [name, value] of Object.entries(headers)) {
    if (HEADERS_OF_HTTP.has(name)) continue;
    const header = known.get(name);
    if (header === undefined) throw new Error(`${of}: the document does not have the header ${name}`);
    const schema = isJsonObject(header['schema']) ? header['schema'] : {};
    const read = schema['type'] === 'integer' ? Number(value) : String(value);
    assertValid(validatorOf(schema), read, `${of}: the header ${name}`);
  }
  for (const [name, { required }] of known)
    if (required === true && headers[name] === undefined)
      throw new Error(`${of}: the header ${name} is missing`);
}

function checkBody({ headers, text }: Exchange, response: JsonObject, of: string): void {
  const content = response['content'];
  if (!isJsonObject(content)) {
    if (text !== '') throw new Error(`${of}: there is a body, and the document has none`);
    return;
  }
  const mediaType = String(headers['content-type']).split(';', 1)[0] ?? '';
  const body = content[mediaType] ?? content['*/*'];
  if (!isJsonObject(body)) throw new Error(`${of}: the document does not have the media type ${mediaType}`);
  const schema = isJsonObject(body['schema']) ? body['schema'] : {};
  if (mediaType === 'text/event-stream') checkStream(text, schema, of);
  else if (mediaType === 'application/json' && !('*/*' in content))
    assertValid(validatorOf(schema), JSON.parse(text), `${of}: the body`);
}

/** Each frame must have one of the forms, and its data must be what that form holds. */
function checkStream(text: string, { contentSchema }: JsonObject, of: string): void {
  const items = isJsonObject(contentSchema) ? resolved(contentSchema['items'], schemas) : undefined;
  const forms = (items?.['anyOf'] ?? []) as JsonObject[];
  const frames: SseEvent[] = [];
  createSseParser((frame) => frames.push(frame)).push(text);
  for (const { id, event, data } of frames) {
    const frame = { event, data, ...(id === undefined ? {} : { id }) };
    const isOfForm = forms.some(
      (form) =>
        validatorOf(form)(frame).length === 0 && validatorOf(dataOf(form))(JSON.parse(data)).length === 0,
    );
    if (!isOfForm) throw new Error(`${of}: the document does not have the frame ${JSON.stringify(frame)}`);
  }
}

function dataOf({ properties }: JsonObject): Json {
  const data = isJsonObject(properties) ? properties['data'] : undefined;
  return (isJsonObject(data) ? data['contentSchema'] : undefined) ?? false;
}

function checkCode({ status, text }: Exchange, { description }: JsonObject, of: string): void {
  const code = checkStatus(text, status);
  if (!String(description).split(', ').includes(code))
    throw new Error(`${of}: the document does not have the error ${code}`);
}

function checkStatus(text: string, status: number): string {
  const { error } = JSON.parse(text) as { error: keyof typeof ERRORS };
  if (ERRORS[error] === undefined) throw new Error(`${error} is not in the table of errors`);
  if (ERRORS[error].status !== status) throw new Error(`${error} travelled under ${status}`);
  return error;
}

/** What stands there, or what it refers to by the last part of the reference. */
function resolved(part: Json | undefined, shared: JsonObject): JsonObject | undefined {
  if (!isJsonObject(part)) return undefined;
  const reference = part['$ref'];
  if (typeof reference !== 'string') return part;
  const found = shared[reference.slice(reference.lastIndexOf('/') + 1)];
  return isJsonObject(found) ? found : undefined;
}

const validators = new Map<Json, Validator>();

function validatorOf(schema: Json): Validator {
  const known =
    validators.get(schema) ??
    compileValidator(isJsonObject(schema) ? { ...schema, $defs: schemas } : { not: {} });
  validators.set(schema, known);
  return known;
}
