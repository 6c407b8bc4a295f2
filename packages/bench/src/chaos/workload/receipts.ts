import type { JsonObject } from '@weft/protocol';
import type {
  AnnotationReceipt,
  AnswerReceipt,
  CancelReceipt,
  CreatedReceipt,
  DeadReceipt,
  ErasureReceipt,
  ForkReceipt,
  ImportReceipt,
  UnexpectedResponse,
  RemovalReceipt,
  StreamReceipt,
  WebhookReceipt,
} from '../checking/history.ts';

/** Responses to clients so far. */
export interface Receipts {
  readonly created: CreatedReceipt[];
  readonly streams: StreamReceipt[];
  readonly answers: AnswerReceipt[];
  readonly cancels: CancelReceipt[];
  readonly unanswered: string[];
  readonly forks: ForkReceipt[];
  readonly imports: ImportReceipt[];
  readonly removals: RemovalReceipt[];
  readonly erasures: ErasureReceipt[];
  readonly annotations: AnnotationReceipt[];
  readonly webhooks: WebhookReceipt[];
  readonly dead: DeadReceipt[];
  readonly unexpectedResponses: UnexpectedResponse[];
  /** Runs that end processes, acknowledged. */
  readonly crashing: string[];
  /** By tag, what a run was created with: a careful client sends the same again. */
  readonly bodies: Map<string, JsonObject>;
  /** Requests that got no answer, or the advice to come back, by what was in the way. */
  readonly repeats: Map<string, number>;
  /** What operators did, by kind and answer. */
  readonly actions: Map<string, number>;
}

export function newReceipts(): Receipts {
  return {
    created: [],
    streams: [],
    answers: [],
    cancels: [],
    unanswered: [],
    forks: [],
    imports: [],
    removals: [],
    erasures: [],
    annotations: [],
    webhooks: [],
    dead: [],
    unexpectedResponses: [],
    crashing: [],
    bodies: new Map(),
    repeats: new Map(),
    actions: new Map(),
  };
}

export function countIn(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
