import type { InterruptKind, Json, JsonObject } from '@weft/protocol';
import type { StopSignal } from '../../model/node-type.ts';
import type { Listed, Page } from '../../ports/store.ts';
import type { Caller, IdempotencyClaim, ReplayedAnswer } from './caller.ts';
import type { CommandOutcome } from './runs.ts';

export interface Interrupts {
  /** Open questions of the tenant's runs, newest run first. A page is counted in runs, and shorter when the signal is aborted meanwhile. */
  list(caller: Caller, page: Page, signal?: StopSignal): Promise<Listed<OpenInterrupt>>;
  /** The question behind a signed link. Throws HostError when there is none, or no longer. */
  inspectLink(token: string): Promise<LinkedQuestion>;
  /** Throws unless the link may answer its question; `isRepeatable`: also one that was answered, whose answer may be sent again. */
  checkLink(token: string, isRepeatable: boolean): Promise<void>;
  /** Answers through a signed link. */
  answerLink(token: string, value: Json, use?: LinkUse): Promise<LinkAnswer>;
}

export interface OpenQuestion {
  readonly kind: InterruptKind;
  readonly key: string;
  readonly data: JsonObject;
  readonly resumeSchema?: JsonObject;
  readonly timeoutMs?: number;
}

/** What the holder of a link may know: the question, who asks it, and until when. */
export interface LinkedQuestion {
  readonly question: OpenQuestion;
  readonly workflow: { readonly id: string; readonly name: string };
  readonly requestedAt: string;
  readonly expiresAt?: string;
  readonly linkExpiresAt: string;
}

/** A question that waits for its answer. */
export interface OpenInterrupt extends OpenQuestion {
  readonly runId: string;
  readonly workflowId: string;
  readonly nodeId: string;
  readonly iteration?: readonly number[];
  readonly interruptId: string;
  readonly requestedAt: string;
  readonly expiresAt?: string;
  readonly votes: readonly { readonly voter: string; readonly action: string }[];
  /** Lets its holder answer this one question without a key. */
  readonly interruptToken?: string;
}

/** Who answers through a link, and how. */
export interface LinkUse {
  /** Where the answer came from, for the audit log. */
  readonly address?: string;
  /** Keys of a link's holder belong to the question behind it, and to no other. */
  readonly idempotency?: IdempotencyClaim<LinkOutcome>;
}

export interface LinkOutcome extends CommandOutcome {
  readonly runId: string;
  readonly nodeId: string;
}

export type LinkAnswer = ({ readonly replayed: false } & LinkOutcome) | ReplayedAnswer;
