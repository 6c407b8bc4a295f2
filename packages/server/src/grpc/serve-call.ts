import { runCooperatively, type Gate, type StopSignal, StopSource } from '@weft/engine';
import type { ErrorEnvelope, MessageShape, MethodShape } from '@weft/protocol';
import type { SharedDoor } from '../app.ts';
import { SMALL_ANSWER, SMALL_BODY } from '../http/bytes-in-flight.ts';
import { envelopeOf, visibleError } from '../http/errors.ts';
import { LARGE_BODY, MAX_CONTAINERS } from '../http/read-json.ts';
import type { ServedOperation } from '../http/serve.ts';
import { encoded, messageOf } from './answers.ts';
import { decodeMessage } from './codec/decode-message.ts';
import type { Document, EncodeOptions } from './codec/encode-message.ts';
import { DOWNLOADS } from './downloads.ts';
import {
  createCall,
  fillCall,
  type GrpcCall,
  type GrpcStream,
  type HttpAddress,
  metadataOf,
  whenClosed,
} from './grpc-call.ts';
import { createMessageWriter, type MessageWriter } from './message-writer.ts';
import { CallerLeft, receiveMessage } from './receive.ts';
import { type FailedStatus, statusOf } from './status.ts';
import { streamEvents } from './stream-events.ts';

export interface CallDeps {
  readonly door: SharedDoor;
  readonly messages: ReadonlyMap<string, MessageShape>;
  /** For messages that are being received. */
  readonly receiving: Gate;
  /** Where URLs in answers lead; null while HTTP is not served. */
  readonly http: () => HttpAddress | null;
  /** Ends a stream whose reader takes nothing. */
  readonly reset: (stream: GrpcStream) => void;
}

const MAX_DEPTH = 64;

/**
 * One call, in the order that HTTP has: who asks, then the message, then what it asks for. It goes through: called → (refused) →
 * message received → answered or failed, and ends with exactly one status.
 */
export async function serveCall(deps: CallDeps, shape: MethodShape, stream: GrpcStream): Promise<void> {
  const { context, guard, operations } = deps.door;
  const { operationId } = shape.method;
  const served: ServedOperation = operations.get(operationId) ?? { access: {} };
  const call = createCall(stream, shape, { ofRun: served.access.ofRun === true, http: deps.http() });
  const from = performance.now();
  let code = 0;
  try {
    await guard.admit(operationId, served.access, call);
    const { requestTimeoutMs: timeoutMs } = context.settings;
    const tenant = call.caller?.tenant ?? '';
    const bytes = await receiveMessage(stream, { gate: deps.receiving, tenant, timeoutMs });
    const work = (): Promise<void> => answer(deps, { shape, served, call, stream }, bytes);
    if (bytes.length > SMALL_BODY) whenClosed(stream, context.bytes.hold(tenant, bytes.length));
    if (bytes.length <= LARGE_BODY) await work();
    else await context.largeBodies.pass(tenant, work);
  } catch (error) {
    if (error instanceof CallerLeft) return;
    const status = await failureOf(error, call, deps);
    ({ code } = status);
    fail(stream, status);
  } finally {
    if (context.settings.accessLog) logCall(deps, call, code, performance.now() - from);
  }
}

interface Served {
  readonly shape: MethodShape;
  readonly served: ServedOperation;
  readonly call: GrpcCall;
  readonly stream: GrpcStream;
}

async function answer(deps: CallDeps, { shape, served, call, stream }: Served, bytes: Buffer): Promise<void> {
  const { context } = deps.door;
  const { messages } = deps;
  const { stallMs, maxGrpcMessageBytes: maxBytes } = context.settings;
  const tenant = call.caller?.tenant ?? '';
  const limits = { messages, maxDepth: MAX_DEPTH, maxContainers: MAX_CONTAINERS };
  fillCall(call, shape, await runCooperatively(tenant, decodeMessage(shape.request, bytes, limits)));
  await served.access.before?.(call);

  const writer = createMessageWriter(stream, stallMs, () => deps.reset(stream));
  const onClose = (listener: () => void): void => whenClosed(stream, listener);
  const options: EncodeOptions = { messages, maxBytes };
  const { response, method } = shape;
  if (method.isStream === true && response !== undefined) {
    await streamEvents(context, call, {
      writer,
      onClose,
      begin: () => stream.sendMetadata(metadataOf(call)),
      encode: (frame) => encoded(tenant, response, frame, options),
    });
    stream.end();
    return;
  }
  const collect = DOWNLOADS[method.operationId];
  if (collect === undefined) {
    await answerOnce({ shape, served, call, stream }, writer, { context, options, tenant });
    return;
  }
  const release = context.bytes.hold(tenant, maxBytes);
  onClose(release);
  const document = await collect(context, call, { maxBytes, onClose });
  stream.sendMetadata(metadataOf(call));
  await writer.write(await messageFrom(tenant, response, document, options));
  stream.end();
}

/** What other doors serve alike: its JSON, as a message. */
async function answerOnce(
  { shape, served, call, stream }: Served,
  writer: MessageWriter,
  { context, options, tenant }: Pick<SharedDoor, 'context'> & { options: EncodeOptions; tenant: string },
): Promise<void> {
  if (served.operation === undefined) throw new Error(`${shape.name} is served nowhere.`);
  const answered = await served.operation(call, () => leaving(stream));
  if (answered.status >= 400) {
    fail(
      stream,
      statusOf({ body: JSON.parse(answered.body) as ErrorEnvelope }),
      answered.headers && metadataOf(call, answered),
    );
    return;
  }
  const message = await messageFrom(tenant, shape.response, answered.body, options);
  if (message.length > SMALL_ANSWER) whenClosed(stream, context.bytes.hold(tenant, message.length));
  stream.sendMetadata(metadataOf(call, answered));
  await writer.write(message);
  stream.end();
}

function leaving(stream: GrpcStream): StopSignal {
  const left = new StopSource();
  whenClosed(stream, () => left.stop());
  return left;
}

const EMPTY = Buffer.alloc(0);

function messageFrom(
  tenant: string,
  shape: MessageShape | undefined,
  answered: string | Document,
  options: EncodeOptions,
): Promise<Buffer> {
  if (shape === undefined) return Promise.resolve(EMPTY);
  return typeof answered === 'string'
    ? messageOf(tenant, shape, answered, options)
    : encoded(tenant, shape, answered, options);
}

async function failureOf(error: unknown, call: GrpcCall, { door }: CallDeps): Promise<FailedStatus> {
  try {
    return statusOf(envelopeOf(call, await visibleError(error, call, door.context), door.context));
  } catch (second) {
    return statusOf(envelopeOf(call, second, door.context));
  }
}

function fail(stream: GrpcStream, status: FailedStatus, metadata?: ReturnType<typeof metadataOf>): void {
  if (stream.cancelled || stream.destroyed) return;
  if (metadata !== undefined) stream.sendMetadata(metadata);
  stream.emit('error', status);
}

function logCall({ door: { context } }: CallDeps, call: GrpcCall, status: number, ms: number): void {
  const { url: route, config } = call.routeOptions;
  context.log(
    'info',
    {
      requestId: call.id,
      method: call.method,
      route,
      scope: config.scope,
      keyId: call.caller?.keyId,
      status,
      ms: Math.round(ms),
    },
    'request',
  );
}
