import { Client, credentials, Metadata, type StatusObject } from '@grpc/grpc-js';
import { GRPC_SERVICE, type Json, type JsonObject } from '@weft/protocol';
import { createTrace, type ShownRequest, type Trace } from '../suite/trace.ts';
import { readEnvelope } from './envelope.ts';
import { jsonMessages } from './json-messages.ts';

/** A host asked over gRPC, with messages as the JSON that they mirror. */
export interface GrpcClient {
  call(method: string, request?: JsonObject, options?: GrpcCallOptions): Promise<GrpcAnswer>;
  /** Reads until the stream ends, or until `enough` says so of what has come; then it is broken off. */
  stream(
    method: string,
    request: JsonObject,
    options?: GrpcCallOptions & { readonly enough?: (frames: readonly JsonObject[]) => boolean },
  ): Promise<GrpcStreamed>;
  close(): void;
}

export interface GrpcCallOptions {
  /** Another key than the suite's own; `null` sends none. */
  readonly key?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface GrpcEnd {
  /** A status of gRPC; 0 is OK. */
  readonly code: number;
  /** From the details of the status. */
  readonly envelope: Json | undefined;
  /** What came before the first message. */
  readonly metadata: Metadata;
}

export interface GrpcAnswer extends GrpcEnd {
  readonly message: JsonObject;
}

export interface GrpcStreamed extends GrpcEnd {
  readonly frames: readonly JsonObject[];
}

export interface GrpcClientOptions {
  readonly endpoint: string;
  readonly key: string | undefined;
  /** Where its calls are recorded. */
  readonly trace?: Trace;
  readonly timeoutMs: number;
}

/** The suite reads what a host sends with a limit on its size: the host may be broken in any way. */
const MAX_MESSAGE_BYTES = 64 * 1_024 * 1_024;
const MAX_FRAMES = 10_000;

export function createGrpcClient({
  endpoint,
  key,
  timeoutMs,
  trace = createTrace(),
}: GrpcClientOptions): GrpcClient {
  const { protocol, host } = new URL(endpoint);
  const secured = protocol === 'grpcs:' ? credentials.createSsl() : credentials.createInsecure();
  const client = new Client(host, secured, {
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    // What one check does to its connection is nothing to others.
    'grpc.use_local_subchannel_pool': 1,
  });
  const messages = jsonMessages();

  function sent({ key: as = key ?? null, metadata = {} }: GrpcCallOptions): Metadata {
    const all = new Metadata();
    if (as !== null) all.set('authorization', `Bearer ${as}`);
    for (const [name, value] of Object.entries(metadata)) all.set(name, value);
    return all;
  }

  function shown(path: string, request: JsonObject, { metadata = {} }: GrpcCallOptions): ShownRequest {
    trace.masks.learn(JSON.stringify(request));
    return {
      method: 'gRPC',
      path,
      headers: { ...metadata, authorization: 'Bearer …' },
      body: trace.shown(request),
    };
  }

  function record(request: ShownRequest, { code, envelope }: GrpcEnd, body: Json): void {
    trace.masks.learn(JSON.stringify(body));
    trace.add({
      kind: 'exchange',
      request,
      answer: { status: code, headers: {}, body: trace.shown(envelope ?? body) },
    });
  }

  const stream: GrpcClient['stream'] = async (method, request, options = {}) => {
    const path = `/${GRPC_SERVICE}/${method}`;
    const types = messages.method(method);
    const asked = shown(path, request, options);
    const call = client.makeServerStreamRequest(
      path,
      (document: JsonObject) => messages.encode(types.request, document),
      (bytes: Buffer) => messages.decode(types.response, bytes),
      request,
      sent(options),
      { deadline: Date.now() + timeoutMs },
    );
    const frames: JsonObject[] = [];
    let metadata = new Metadata();
    const status = await new Promise<StatusObject>((resolve) => {
      call.on('data', (frame: JsonObject) => {
        frames.push(frame);
        if (frames.length >= MAX_FRAMES || options.enough?.(frames) === true) call.cancel();
      });
      // Its status comes as well.
      call.on('error', () => undefined);
      call.on('metadata', (first: Metadata) => {
        metadata = first;
      });
      call.on('status', resolve);
    });
    const end: GrpcEnd = { code: status.code, envelope: readEnvelope(status.metadata), metadata };
    record(asked, end, frames.slice(0, 100));
    return { ...end, frames };
  };

  return {
    stream,
    close: () => client.close(),
    async call(method, request = {}, options = {}) {
      const { frames, ...end } = await stream(method, request, options);
      return { ...end, message: frames[0] ?? {} };
    },
  };
}
