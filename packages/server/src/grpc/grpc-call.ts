import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import { GRPC_SERVICE, type JsonObject, type MethodShape } from '@weft/protocol';
import type { Answered, Call } from '../call.ts';
import { REPLAY_HEADER } from '../http/idempotency.ts';
import { requestIdOf } from '../http/request-id.ts';
import { traceparentOf } from '../http/trace-context.ts';

/**
 * Every call is served as a stream of messages in both directions, which on the wire is what a call with one message each way is,
 * too. So the caller is known before its message is read, and what is written waits for the reader.
 */
export type GrpcStream = ServerDuplexStream<Buffer, Buffer>;

/** Metadata that means what the header of the same name means over HTTP; the others are not looked at. */
const TAKEN = [
  'authorization',
  'idempotency-key',
  'prefer',
  'traceparent',
  'tracestate',
  'x-dedup',
  'x-force-engine-version',
  'x-request-id',
] as const;

/** Of the answers of HTTP. */
const ANSWERED = [REPLAY_HEADER, 'preference-applied'] as const;

export interface HttpAddress {
  readonly address: string;
  readonly port: number;
}

export type GrpcCall = { -readonly [Key in keyof Call]: Call[Key] };

/** The call as far as it is known before its message: who asks for what, and from where. */
export function createCall(
  stream: Pick<GrpcStream, 'metadata' | 'getPeer'>,
  { name, route }: MethodShape,
  { ofRun, http }: { readonly ofRun: boolean; readonly http: HttpAddress | null },
): GrpcCall {
  const headers: Record<string, string | string[]> = {};
  for (const key of TAKEN) {
    const values = stream.metadata.get(key).map(String);
    const [only] = values;
    if (only !== undefined) headers[key] = values.length === 1 ? only : values;
  }
  const peer = stream.getPeer().replace(/:\d+$/, '');
  return {
    id: requestIdOf({ headers }),
    method: 'gRPC',
    headers,
    params: {},
    query: {},
    ip: peer,
    // URLs in answers are those of HTTP.
    socket: { remoteAddress: peer, localAddress: http?.address, localPort: http?.port },
    routeOptions: {
      url: `/${GRPC_SERVICE}/${name}`,
      config: { ofRun, ...(route.scope !== null && { scope: route.scope }) },
    },
    caller: undefined,
  };
}

/** Puts each field of the message where HTTP has it. */
export function fillCall(call: GrpcCall, { request, route }: MethodShape, message: JsonObject): void {
  const places = { path: {}, query: {}, header: {}, body: {} } as Record<
    'path' | 'query' | 'header' | 'body',
    Record<string, unknown>
  >;
  for (const { jsonName, place = 'body' } of request.fields) {
    const value = message[jsonName];
    if (value !== undefined) places[place][jsonName] = place === 'body' ? value : String(value);
  }
  call.params = places.path;
  call.query = places.query;
  call.headers = { ...call.headers, ...(places.header as Record<string, string>) };
  if (route.request !== undefined) call.body = places.body;
}

/** What an answer says apart from its message. */
export function metadataOf(call: Call, answered?: Answered): Metadata {
  const metadata = new Metadata();
  metadata.set('x-request-id', call.id);
  const traceparent = traceparentOf(call.headers['traceparent']);
  if (traceparent !== undefined) metadata.set('traceparent', traceparent);
  for (const name of ANSWERED) {
    const value = answered?.headers?.[name];
    if (value !== undefined) metadata.set(name, value);
  }
  return metadata;
}

/** Calls it when the call is over, at once if it is already. */
export function whenClosed(stream: GrpcStream, listener: () => void): void {
  if (stream.closed) listener();
  else stream.once('close', listener);
}
