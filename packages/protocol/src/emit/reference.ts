import { ERRORS, type ErrorCode } from '../errors/errors.ts';
import { grpcStatusOf } from '../errors/grpc-status.ts';
import { EVENT_CATALOGUE } from '../events/event-catalogue.ts';
import { WEFT_EVENTS } from '../events/catalogue/weft.ts';
import { httpPage } from './http-reference.ts';
import { code, codes, page, table } from './markdown.ts';
import { ENDPOINTS, pathOf } from '../routes/endpoints.ts';
import { operationOf } from '../routes/routes.ts';
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
      'the event in that mode. A closed payload admits no other members. Types with a vendor’s prefix may occur in addition ' +
      'and are shown in debug mode and polls only; those of this host stand last. Not every host emits every type.',
    ...sections,
  );
}

function heading(family: string): string {
  const words = family.replaceAll('-', ', ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function errorsPage(): string {
  const rows = (Object.keys(ERRORS) as ErrorCode[]).map((name) => {
    const { status, advice } = ERRORS[name];
    return [code(name), String(status), grpcStatusOf(name), advice];
  });
  return page(
    'Errors',
    'Every answer outside 2xx and 3xx has the same closed body: `error` (a code from this table), `message` (for people) ' +
      'and, where it helps, `details` (an object). Programs branch on `error`.',
    table(['error', 'status', 'gRPC', 'what to do'], rows),
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

const FILES = '../../packages/protocol/documents';

function documentsPage(): string {
  const documents = [
    [
      'OpenAPI 3.1',
      'openapi.json',
      pathOf('getOpenApiSpec'),
      'Every operation, with its parameters, bodies, headers and errors.',
    ],
    [
      'AsyncAPI 3.1',
      'asyncapi.json',
      pathOf('getAsyncApiSpec'),
      'The event streams: a channel per stream mode, a message per event.',
    ],
    [
      'Protocol Buffers 3',
      'openwop.proto',
      pathOf('getProto'),
      'The gRPC service: a method per operation, a message per document. Where it is served: [gRPC](../guide/grpc.md).',
    ],
  ].map(([title, name, path, holds]) => [`[${title}](${FILES}/${name})`, code(path ?? ''), holds ?? '']);
  const schemas = SCHEMA_NAMES.map((name) => [
    `[${name}](${FILES}/schemas/${name}.json)`,
    code(componentName(name)),
  ]);
  return page(
    'Documents',
    'What a host publishes for programs. Each document is complete in itself: it refers to nothing outside. No key is needed to read them, ' +
      'and the same files stand in `@weft/protocol`, as `@weft/protocol/openapi.json`, `@weft/protocol/asyncapi.json`, ' +
      '`@weft/protocol/openwop.proto` and `@weft/protocol/schemas/run-snapshot.json`. What may change in them: [compatibility](../compatibility.md).',
    table(['document', 'served at', 'holds'], documents),
    `## Schemas\n\nJSON Schema 2020-12, served at ${code(ENDPOINTS.getSchema.path)}.`,
    table(['schema', 'in the documents'], schemas),
  );
}
