import { endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type { PageRequest } from '../documents.ts';
import { type PagePromise, pagedList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** What a schedule or trigger should have started and did not, or a run that failed after its last retry. */
export interface DeadLetter {
  readonly id: string;
  readonly source: string;
  /** A code. */
  readonly reason: string;
  readonly message: string;
  readonly at: string;
  readonly attempts: number;
  /** Of a schedule. */
  readonly dueAt?: string;
  /** Of a delivery: the sender's id, and its size. */
  readonly deliveryId?: string;
  readonly bytes?: number;
  /** Of a run. */
  readonly runId?: string;
  readonly nodeId?: string;
}

/** `source` is `schedule:NAME`, `trigger:ID` or `runs`. */
export interface DeadLetters {
  list(source: string, page?: PageRequest): PagePromise<DeadLetter>;
  /** Starts what should have been started, and removes the letter. */
  replay(source: string, id: string): ApiPromise<{ readonly runId: string }>;
  remove(source: string, id: string): ApiPromise<void>;
}

export function createDeadLetters(transport: Transport): DeadLetters {
  return {
    list: (source, page) =>
      pagedList(transport, endpointOf('listDeadLetters'), 'deadLetters', { source, ...page }),
    replay: (source, letterId) =>
      transport.json(endpointOf('replayDeadLetter', { letterId }), { query: { source } }),
    remove: (source, letterId) =>
      transport.json(endpointOf('removeDeadLetter', { letterId }), { query: { source } }),
  };
}
