import {
  assertValid,
  compileValidator,
  ERRORS,
  type ErrorCode,
  ErrorEnvelopeSchema,
  PollResponseSchema,
  type Route,
  ROUTES,
  type Validator,
} from '@weft/protocol';
import type { TSchema } from 'typebox';

/** Checks an answer against the table of routes; an operation, status or code that the table does not know is a failure. */

export interface Exchange {
  readonly method: string;
  /** With query. */
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** What every operation can answer, in addition to its own errors. */
const COMMON: readonly ErrorCode[] = [
  'unauthenticated',
  'key_expired',
  'key_revoked',
  'forbidden',
  'not_found',
  'unsupported_encoding',
  'rate_limited',
  'internal_error',
  'service_unavailable',
];

export function checkExchange(exchange: Exchange): void {
  const path = exchange.url.split('?', 1)[0] ?? '';
  const route = ROUTES.find((candidate) => candidate.method === exchange.method && matches(candidate, path));
  if (exchange.status >= 400) checkError(exchange, route);
  else if (route === undefined)
    throw new Error(`${exchange.method} ${path} answered ${exchange.status} and is no route`);
  else checkAnswer(exchange, route);
}

function matches(route: Route, path: string): boolean {
  if (/%(?![0-9a-f]{2})/i.test(path)) return false;
  const pattern = route.path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/:]+');
  // The one alias: cancel written as a colon verb.
  const aliased = path.replace(/^(\/v1\/runs\/[^/:]+):cancel$/, '$1/cancel');
  return new RegExp(`^${pattern}$`).test(aliased);
}

function checkError(exchange: Exchange, route: Route | undefined): void {
  if (exchange.url.startsWith('/v1/packs') && exchange.contentType.startsWith('text/plain')) return;
  const envelope = JSON.parse(exchange.text) as { error: ErrorCode };
  assertValid(validatorOf(ErrorEnvelopeSchema), envelope, 'The envelope');
  const row = ERRORS[envelope.error];
  if (row === undefined) throw new Error(`${envelope.error} is not in the table of errors`);
  if (row.status !== exchange.status) throw new Error(`${envelope.error} travelled under ${exchange.status}`);
  if (route === undefined || COMMON.includes(envelope.error) || route.errors.includes(envelope.error)) return;
  if (envelope.error === 'run_forbidden' && route.path.includes('{runId}')) return;
  throw new Error(`${route.operationId} answered ${envelope.error}, which its row does not list`);
}

function checkAnswer(exchange: Exchange, route: Route): void {
  const answer = route.responses[exchange.status];
  if (answer === undefined)
    throw new Error(`${route.operationId} answered ${exchange.status}, which its row does not list`);
  if (answer.schema === undefined) {
    if (exchange.text !== '') throw new Error(`${route.operationId} answered ${exchange.status} with a body`);
    return;
  }
  if (answer.contentType === 'application/octet-stream') return;
  if (answer.contentType === 'text/plain' && exchange.contentType.startsWith('text/plain')) return;
  const isJson = exchange.contentType.startsWith('application/json');
  if (answer.contentType === 'text/event-stream' && !isJson) return;
  if (!isJson) throw new Error(`${route.operationId} answered as ${exchange.contentType}`);
  const schema = answer.contentType === 'text/event-stream' ? PollResponseSchema : answer.schema;
  assertValid(validatorOf(schema), JSON.parse(exchange.text), `The answer of ${route.operationId}`);
}

const validators = new Map<TSchema, Validator>();

function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema) ?? compileValidator(schema);
  validators.set(schema, known);
  return known;
}
