import { type TSchema, Type } from 'typebox';

/** A header of answers. `always` means: wherever an answer is said to have it, it has. */
interface ResponseHeader {
  readonly description: string;
  readonly schema: TSchema;
  readonly always: boolean;
}

const text = Type.String();

/** Every header that answers can have, but for those of HTTP itself: Connection, Content-Length, Content-Type, Date and the like. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: 'The id that the client sent, or one of the host; its log has the same.',
    schema: text,
    always: true,
  },
  'X-Content-Type-Options': { description: 'nosniff', schema: Type.Literal('nosniff'), always: true },
  'Cache-Control': { description: 'Whether the answer may be kept.', schema: text, always: true },
  'Content-Language': { description: 'The language of sentences in it.', schema: text, always: true },
  traceparent: {
    description: 'The trace that the request belongs to, if it said so (W3C Trace Context).',
    schema: text,
    always: false,
  },
  ETag: {
    description: 'Changes with the content; for If-None-Match.',
    schema: Type.String({ pattern: '^"[^"]+"$' }),
    always: true,
  },
  'Capabilities-Etag': {
    description: 'Changes when something changes that clients negotiate.',
    schema: text,
    always: true,
  },
  Location: {
    description: 'Where what was made can be read.',
    schema: Type.String({ format: 'uri' }),
    always: true,
  },
  'Preference-Applied': {
    description: 'How long the answer was waited for at most, where the request asked for that.',
    schema: Type.String({ pattern: '^wait=[0-9]+$' }),
    always: false,
  },
  'openwop-Idempotent-Replay': {
    description:
      'Only "true": this is the stored answer to an earlier request with the same Idempotency-Key.',
    schema: Type.Literal('true'),
    always: false,
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    schema: Type.Integer({ minimum: 0 }),
    always: false,
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    schema: Type.Literal('Bearer'),
    always: true,
  },
  'Mcp-Session-Id': { description: 'The session; the client sends it back.', schema: text, always: false },
  'Content-Disposition': {
    description: 'The name to keep the download under.',
    schema: text,
    always: true,
  },
  'Content-Security-Policy': {
    description: 'Keeps browsers from running the content.',
    schema: text,
    always: true,
  },
  'Content-Encoding': {
    description: 'gzip, if the client accepts it.',
    schema: Type.Literal('gzip'),
    always: false,
  },
  'Accept-Encoding': {
    description: 'The encodings that a body may have.',
    schema: text,
    always: false,
  },
  Vary: { description: 'Which request headers the answer depends on.', schema: text, always: false },
  'Weft-Trigger-Secret': {
    description: 'The secret that deliveries are signed with; in this answer and nowhere else.',
    schema: text,
    always: false,
  },
  'X-Accel-Buffering': {
    description: 'With "no", proxies pass events on at once.',
    schema: Type.Literal('no'),
    always: false,
  },
} as const satisfies Readonly<Record<string, ResponseHeader>>;

export type ResponseHeaderName = keyof typeof RESPONSE_HEADERS;

export const EVERY_ANSWER: readonly ResponseHeaderName[] = [
  'X-Request-Id',
  'X-Content-Type-Options',
  'Cache-Control',
  'Content-Language',
  'traceparent',
  'Content-Encoding',
  'Vary',
];
