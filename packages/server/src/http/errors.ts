import { LOCALE } from '@weft/engine';
import type { ServerResponse } from 'node:http';
import { type EnvelopedError, HostError, isHostError, isName, toEnvelope } from '@weft/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AppContext, sendJson } from '../app-context.ts';
import type { Call } from '../call.ts';

/** The one place where a failure becomes an answer: `{error, message, details?}`, always. */
export function answerErrors(app: FastifyInstance, context: AppContext): void {
  app.setErrorHandler(async (error, request, reply) => {
    const known = translate(error, request, context);
    return sendError(reply, request, await visibleError(known, request, context), context);
  });
}

export function sendError(
  reply: FastifyReply,
  request: FastifyRequest,
  error: unknown,
  context: AppContext,
): FastifyReply {
  const { status, body, retryAfter } = envelopeOf(request, error, context);
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  reply.header('cache-control', 'no-store');
  return sendJson(reply, status, JSON.stringify(body));
}

/** Clients can provoke these at will, and an operator can do nothing about them. */
const NOT_LOGGED: ReadonlySet<string> = new Set(['service_unavailable', 'capability_not_provided']);

/** The error for the caller; the cause of a 5xx goes to the log. */
export function envelopeOf(call: Call, error: unknown, context: AppContext): EnvelopedError {
  const envelope = toEnvelope(error, call.id);
  if (envelope.status >= 500 && !(isHostError(error) && NOT_LOGGED.has(error.code)))
    logCause(context, call, error);
  return envelope;
}

export function noSuchRun(): HostError {
  return new HostError('not_found', 'No run with this id is visible to this key.');
}

/** What stays unsaid about a run must not be learnt from what is wrong with the request: 404 goes before 400. */
export async function visibleError(error: unknown, call: Call, context: AppContext): Promise<unknown> {
  if (!isHostError(error) || (error.status !== 400 && error.status !== 413)) return error;
  if (call.caller === undefined || call.routeOptions.config.ofRun !== true) return error;
  const { runId = '' } = call.params as { readonly runId?: string };
  if (!isName(runId)) return noSuchRun();
  try {
    const page = await context.host.runs.events(call.caller, runId, Number.MAX_SAFE_INTEGER, 1);
    return page === undefined ? noSuchRun() : error;
  } catch (removed) {
    if (isHostError(removed, 'run_expired')) return removed;
    throw removed;
  }
}

/** Errors of the framework, in our words. */
function translate(error: unknown, request: FastifyRequest, context: AppContext): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge(request, request.routeOptions.bodyLimit ?? context.settings.maxRequestBodyBytes);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new HostError(
        'validation_error',
        'The body must be sent with "Content-Type: application/json".',
        {
          field: 'Content-Type',
        },
      );
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new HostError('validation_error', 'Content-Length does not match the size of the body.', {
        field: 'Content-Length',
      });
    case 'ECONNRESET':
      return new HostError('validation_error', 'The body ended before it was complete.', { field: 'body' });
    default:
      return error;
  }
}

function tooLarge(request: FastifyRequest, limit: number): HostError {
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  return new HostError('payload_too_large', `The body is larger than ${limit} bytes.`, {
    maxRequestBodyBytes: limit,
    limit,
    ...(Number.isSafeInteger(declared) ? { observed: declared } : {}),
  });
}

/** Errors that Fastify meets before there is a route: a path that cannot be decoded, a parameter without end. */
export function answerFrameworkError(
  error: { readonly code?: string },
  { id }: FastifyRequest,
  response: ServerResponse,
): void {
  const known =
    error.code === 'FST_ERR_MAX_PARAM_LENGTH'
      ? new HostError('not_found', 'The id in this path is too long.')
      : new HostError('validation_error', 'The path is not valid percent-encoding.', { field: 'path' });
  const { status, body } = toEnvelope(known);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': id,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-language': LOCALE,
  });
  response.end(JSON.stringify(body));
}

/** The kind of the error and the place it was thrown; its message may quote a payload and stays out. */
function logCause(context: AppContext, call: Call, error: unknown): void {
  context.log(
    'error',
    {
      requestId: call.id,
      method: call.method,
      route: call.routeOptions.url ?? '',
      ...causeFields(error),
    },
    'a request failed',
  );
}

/** Where it came from. Its message may hold what clients have sent. */
export function causeFields(error: unknown): { readonly errorName: string; readonly errorAt?: string } {
  const cause = isHostError(error) && error.cause !== undefined ? error.cause : error;
  if (!(cause instanceof Error)) return { errorName: typeof cause };
  const errorAt = firstFrames(cause);
  return { errorName: cause.name, ...(errorAt !== '' && { errorAt }) };
}

function firstFrames(error: Error): string {
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  return frames
    .slice(0, 4)
    .map((line) => line.trim())
    .join(' | ');
}
