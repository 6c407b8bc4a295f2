import {
  type Allowance,
  compileClientSchema,
  type ErrorCode,
  HostError,
  type Json,
  type JsonObject,
  type WorkBudget,
} from '@weft/protocol';
import type { OfNode } from '../../model/event-payloads.ts';
import type { Draft } from '../../model/run-event.ts';
import type { InterruptState } from '../../model/run-state.ts';
import type { NodePlan } from '../compile/plan.ts';
import type { Batch } from '../decide/live-run.ts';
import type { Sensitivity } from '../redaction/sensitivity.ts';

/** What is different about questions of one kind; what a kind leaves out is as with every question. The table: kinds.ts. */
export interface KindRules {
  /** What becomes of an answer that satisfies the question's own schema. Pure: records nothing. */
  evaluate(interrupt: InterruptState, answer: Answer, means: Means): Evaluation;

  /** Throws when the node cannot ask this; its attempt then fails. */
  checkQuestion?(batch: Batch, node: NodePlan, data: JsonObject): void;
  /** True when the node has asked too often, which ended the run. */
  breachesCap?(batch: Batch, node: NodePlan, path: readonly number[]): boolean;
  /** Said on `node.suspended` instead of the question's own reason. */
  reason?(data: JsonObject): JsonObject & { readonly reason: string };
  /** Records what comes between `node.suspended` and `interrupt.requested`. */
  opened?(batch: Batch, node: NodePlan, path: readonly number[], opening: Opening): void;
  /** The event that readers of earlier drafts look for after `interrupt.requested`. The node has made the data by its kind. */
  requested?(place: Place, shown: JsonObject, data: JsonObject): Draft<RequestedEvent>;

  /** What only the node or its channel can say against an answer; found out before anything is recorded. */
  answerProblem?(asked: Asked, taken: Taken): AnswerProblem | undefined;
  /** The event that readers of earlier drafts look for before `interrupt.resolved`; for a vote that decides nothing it is the only event. */
  received?(place: Place, answer: JsonObject, voter: string | undefined): Draft<ReceivedEvent>;
  /** Records the end of what the question opened, and returns the outputs; without it the answer itself is the outputs. */
  conclude?(asked: Asked, taken: Taken): JsonObject;
  /** The port that stands for an answer as a whole, where it is declared sensitive; `output` unless it is said here. */
  readonly wholePort?: string;

  /** The answer that silence counts as. */
  readonly silentAnswer?: JsonObject;
  /** Records the end of what the question opened, when no answer came in time, and returns the outputs; without it the node fails. */
  concludeSilently?(asked: Asked): JsonObject;
}

/**
 * - `refused`: wrong in form or not allowed; the question stays open and nothing is recorded.
 * - `vote`: counted, but more votes are needed.
 * - `noted`: a question back; it is kept, and the interrupt stays open.
 * - `turn`: a turn of a conversation, which continues.
 * - `accepted` / `rejected`: the interrupt is over.
 */
export type Evaluation = Refused | Taken;

interface Refused {
  readonly type: 'refused';
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: JsonObject;
}

/** An answer that is not refused. */
export type Taken = { readonly value: JsonObject; readonly voter: string } & (
  | { readonly type: 'vote' | 'noted' | 'turn' | 'accepted' }
  | { readonly type: 'rejected'; readonly error: { readonly code: string; readonly message: string } }
);

export type AnswerProblem = Omit<Refused, 'type'>;

export interface Answer {
  readonly value: JsonObject;
  readonly by: string;
  readonly byUser: boolean;
  readonly viaLink: boolean;
}

/** What holding an answer against the schemas of its question may cost. */
export interface Means {
  readonly budget: WorkBudget;
  readonly allowance: Allowance;
}

/** A question that is open, and where it was asked. */
export interface Asked {
  readonly batch: Batch;
  readonly node: NodePlan;
  readonly path: readonly number[];
  readonly interrupt: InterruptState;
}

export interface Opening {
  readonly data: JsonObject;
  /** Of the data. */
  readonly sensitivity: Sensitivity | undefined;
  readonly suspendedSeq: number;
}

type Place = OfNode & { interruptId: string };
type RequestedEvent = 'approval.requested' | 'clarification.requested';
export type ReceivedEvent = 'approval.received' | 'clarification.resolved';

export function rejected(answer: Pick<Taken, 'value' | 'voter'>, code: string, subject: string): Taken {
  const message = `${subject} was rejected by ${answer.voter}.`;
  return { type: 'rejected', value: answer.value, voter: answer.voter, error: { code, message } };
}

export function refused(message: string, field: string, more: JsonObject = {}): Refused {
  return { type: 'refused', code: 'validation_error', message, details: { field, ...more } };
}

export function schemaProblem(
  schema: JsonObject | undefined,
  value: Json,
  { budget, allowance }: Means,
  field = 'resumeValue',
): Refused | undefined {
  if (schema === undefined) return undefined;
  try {
    const [problem] = compileClientSchema(schema, { allowance })(value, budget);
    return (
      problem &&
      refused(`${field}${problem.path} ${problem.message}.`, `${field}${problem.path.replaceAll('/', '.')}`)
    );
  } catch (error) {
    // A question that code asked brings a schema that was not looked at before.
    if (!(error instanceof HostError)) throw error;
    const { code, message, details } = error;
    return { type: 'refused', code, message, details: { ...details, field } };
  }
}
