import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@weft/protocol';
import { countIn, type Receipts } from './receipts.ts';

/** Asks one of the hosts. Whatever is wrong with an answer becomes a receipt. */
export interface HttpClient {
  /** Undefined: no answer, or one that says to come back later. */
  ask(method: 'GET' | 'POST' | 'DELETE', path: string, more?: RequestOptions): Promise<Answer | undefined>;
  /** The same, asked again until it is answered, or too often. */
  askUntilAnswered(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    more?: RequestOptions,
  ): Promise<Answer | undefined>;
  /** A response whose body is read as it comes. */
  open(path: string, signal: AbortSignal, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

export interface RequestOptions {
  readonly body?: JsonObject;
  readonly key?: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: JsonObject;
}

const ANSWER_WITHIN_MS = 6_000;
/** On a loaded machine a place may be away for half a minute, and what was asked for may have happened. */
const MOST_TRIES = 1_500;
const TRY_EVERY_MS = 80;

export function httpClient(url: () => string, apiKey: string, receipts: Receipts): HttpClient {
  const authorization = `Bearer ${apiKey}`;
  const ask: HttpClient['ask'] = async (method, path, { body, key } = {}) => {
    try {
      const response = await fetch(`${url()}${path}`, {
        method,
        headers: {
          authorization,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const text = await response.text();
      const { status } = response;
      if (status === 503 || status === 429 || (status === 409 && text.includes('idempotency_in_flight'))) {
        if (!response.headers.has('retry-after')) note(receipts, `${method} ${path}`, status, text);
        repeated(receipts, `${status} ${reasonIn(text)}`);
        return undefined;
      }
      if (status >= 500 || status === 401) note(receipts, `${method} ${path}`, status, text);
      return { status, text, json: (text === '' ? {} : JSON.parse(text)) as JsonObject };
    } catch (error) {
      repeated(receipts, whyNoAnswer(error));
      return undefined;
    }
  };
  return {
    ask,
    async askUntilAnswered(method, path, more) {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const answer = await ask(method, path, more);
        if (answer !== undefined) return answer;
        await pause(TRY_EVERY_MS);
      }
      return undefined;
    },
    open: (path, signal, headers = {}) =>
      fetch(`${url()}${path}`, { headers: { authorization, ...headers }, signal }),
  };
}

function note(receipts: Receipts, request: string, status: number, body: string): void {
  receipts.unexpectedResponses.push({ request, status, body });
}

function repeated(receipts: Receipts, reason: string): void {
  countIn(receipts.repeats, reason);
}

function reasonIn(body: string): string {
  const { error, details } = JSON.parse(body) as { error?: string; details?: { cause?: string } };
  return details?.cause ?? error ?? '';
}

function whyNoAnswer(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error instanceof Error ? error.name : String(error);
}
