import type { AnswerReceipt, CancelReceipt, CreatedReceipt, Mishap, StreamReceipt } from './history.ts';

/** What clients were told so far. */
export interface Receipts {
  readonly created: CreatedReceipt[];
  readonly streams: StreamReceipt[];
  readonly answers: AnswerReceipt[];
  readonly cancels: CancelReceipt[];
  readonly mishaps: Mishap[];
  /** Requests that got no answer, or the advice to come back, by what was in the way. */
  readonly repeats: Map<string, number>;
}

export function newReceipts(): Receipts {
  return { created: [], streams: [], answers: [], cancels: [], mishaps: [], repeats: new Map() };
}
