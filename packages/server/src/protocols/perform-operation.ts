import { StopSource } from '@weft/engine';
import { type ErrorEnvelope, isJsonObject, type JsonObject, type OperationId, route } from '@weft/protocol';
import type { FastifyRequest } from 'fastify';
import type { SharedDoor } from '../app.ts';
import type { Call } from '../call.ts';
import { envelopeOf, visibleError } from '../http/errors.ts';

/** What an operation refused, in the words that every door answers with. */
export class OperationRefused extends Error {
  readonly code: string;
  readonly details: unknown;

  constructor({ error, message, details }: ErrorEnvelope) {
    super(message);
    this.name = 'OperationRefused';
    this.code = error;
    this.details = details;
  }
}

/** These doors send no header that asks to wait. */
const NEVER_LEFT = new StopSource();

/** The door by which a request came that stands for others. */
export interface ProtocolDoor extends SharedDoor {
  readonly via: 'MCP' | 'A2A';
}

export interface Place {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** Under which the operation is performed once. */
  readonly idempotencyKey?: string;
}

/** An operation that every door serves, performed for the sender of a request: key, scope, limits and audit are those of HTTP. */
export async function performOperation(
  { context, guard, operations, via }: ProtocolDoor,
  request: FastifyRequest,
  operationId: OperationId,
  place: Place,
): Promise<JsonObject> {
  const served = operations.get(operationId);
  if (served?.operation === undefined) throw new Error(`${operationId} is not served everywhere.`);
  const call = callOf(via, request, operationId, place);
  try {
    await guard.admit(operationId, served.access, call);
    await served.access.before?.(call);
    const { status, body: text } = await served.operation(call, () => NEVER_LEFT);
    const answered: unknown = JSON.parse(text);
    if (status >= 400) throw new OperationRefused(answered as ErrorEnvelope);
    if (!isJsonObject(answered))
      throw new Error(`${operationId} answered with something else than an object.`);
    return answered;
  } catch (error) {
    if (error instanceof OperationRefused) throw error;
    throw new OperationRefused(envelopeOf(call, await visibleError(error, call, context), context).body);
  }
}

/** For what is asked of the host itself: the caller, if it holds the operation's scope. */
export async function admitted(
  { guard, operations, via }: ProtocolDoor,
  request: FastifyRequest,
  operationId: OperationId,
): Promise<Call> {
  const call = callOf(via, request, operationId, {});
  await guard.admit(operationId, operations.get(operationId)?.access ?? {}, call);
  return call;
}

function callOf(
  via: ProtocolDoor['via'],
  request: FastifyRequest,
  operationId: OperationId,
  { params = {}, body, idempotencyKey }: Place,
): Call {
  const { scope } = route(operationId);
  const { authorization, traceparent } = request.headers;
  return {
    id: request.id,
    method: via,
    headers: {
      authorization,
      traceparent,
      host: request.headers.host,
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    params,
    query: {},
    body,
    ip: request.ip,
    socket: request.socket,
    routeOptions: { url: request.routeOptions.url, config: scope === null ? {} : { scope } },
    caller: undefined,
  };
}
