import { endpointOf, type Json } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type { OpenInterrupt, PageRequest, ResolveAnswer } from '../documents.ts';
import { type PagePromise, pagedList } from '../requests/page-promise.ts';
import type { Idempotent } from './runs.ts';
import type { Transport } from '../requests/transport.ts';

/** Questions that wait for an answer, across the tenant's runs. They are answered with `runs.resolve`. */
export interface Interrupts {
  /** A page is counted in runs, so it may hold more questions than its limit, or none. */
  list(page?: PageRequest): PagePromise<OpenInterrupt>;
  /** The question behind a signed link. Needs no key: the token is one, for this question alone. */
  inspectLink(token: string): ApiPromise<OpenQuestion>;
  /** The same from a host of ours, with the workflow that asks and until when. */
  readLink(token: string): ApiPromise<LinkedQuestion>;
  /** Answers it. */
  answerLink(token: string, resumeValue: Json, options?: Idempotent): ApiPromise<ResolveAnswer>;
}

/** What the holder of a link may know of its question. */
export type OpenQuestion = Pick<OpenInterrupt, 'kind' | 'key' | 'data' | 'resumeSchema' | 'timeoutMs'>;

export interface LinkedQuestion {
  readonly question: OpenQuestion;
  readonly workflow: { readonly id: string; readonly name: string };
  readonly requestedAt: string;
  /** When the question itself is no longer open; absent where it waits for ever. */
  readonly expiresAt?: string;
  readonly linkExpiresAt: string;
}

export function createInterrupts(transport: Transport): Interrupts {
  return {
    list: (page) => pagedList(transport, endpointOf('listInterrupts'), 'interrupts', { ...page }),
    inspectLink: (token) => transport.json(endpointOf('inspectInterruptByToken', { token })),
    readLink: (token) => transport.json(endpointOf('readQuestionLink', { token })),
    answerLink: (token, resumeValue, options = {}) =>
      transport.json(endpointOf('resolveInterruptByToken', { token }), {
        body: { resumeValue },
        headers: { 'idempotency-key': options.idempotencyKey },
      }),
  };
}
