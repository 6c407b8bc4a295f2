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

export interface Place {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

/** An operation that every door serves, performed for the sender of a request: key, scope, limits and audit are those of HTTP. */
export async function performOperation(
  { context, guard, operations }: SharedDoor,
  request: FastifyRequest,
  operationId: OperationId,
  { params = {}, body }: Place,
): Promise<JsonObject> {
  const served = operations.get(operationId);
  if (served?.operation === undefined) throw new Error(`${operationId} is not served everywhere.`);
  const call = callOf(request, operationId, { params, ...(body !== undefined && { body }) });
  try {
    await guard.admit(operationId, served.access, call);
    await served.access.before?.(call);
    const { status, body: text } = await served.operation(call);
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
  { guard, operations }: SharedDoor,
  request: FastifyRequest,
  operationId: OperationId,
): Promise<Call> {
  const call = callOf(request, operationId, {});
  await guard.admit(operationId, operations.get(operationId)?.access ?? {}, call);
  return call;
}

function callOf(request: FastifyRequest, operationId: OperationId, place: Place): Call {
  const { scope } = route(operationId);
  const { authorization, traceparent } = request.headers;
  return {
    id: request.id,
    method: 'MCP',
    headers: { authorization, traceparent, host: request.headers.host },
    params: place.params ?? {},
    query: {},
    body: place.body,
    ip: request.ip,
    socket: request.socket,
    routeOptions: { url: request.routeOptions.url, config: scope === null ? {} : { scope } },
    caller: undefined,
  };
}
