import type { JsonObject, WorkBudget } from '@weft/protocol';
import type { Frontier } from './frontier.ts';
import type { NodePlan, Plan } from '../compile/plan.ts';
import type { KnownValues } from '../redaction/known-values.ts';
import type { Masking, Redactor } from '../redaction/redaction.ts';
import type { Signal, StoredEvent } from '../../ports/store.ts';
import type { Draft } from '../../model/run-event.ts';
import type { CreationRecord, EffectKey, NodeKey, RunState, StepState } from '../../model/run-state.ts';
import type { Sensitivity } from '../redaction/sensitivity.ts';
import type { ChildRequest, EffectRequest } from './step.ts';

/**
 * A run in the hands of its holder: the folded state, and what can be derived from plan and state but would be slow to
 * derive again at every step. Nothing in it is durable; `openRun` rebuilds all of it from the fold.
 */
export interface LiveRun {
  readonly plan: Plan;
  readonly record: CreationRecord;
  readonly state: RunState;
  /** Capability ids this host provides to nodes that require some. */
  readonly capabilities: ReadonlySet<string>;
  /** Opened again when a cycle goes round. */
  frontier: Frontier;
  /** Effects started and not settled. */
  readonly inFlight: Set<EffectKey>;
  /** Nodes that work in steps and have none open: what comes next is to be decided. */
  readonly stepping: Set<NodeKey>;
  /** Nodes whose child run is not yet known to exist. */
  readonly spawning: Set<NodeKey>;
  /** Nodes that wait for a time: running delays and retries not yet due. */
  readonly timers: Set<NodeKey>;
  /** A pause waits for what is in flight: nothing new is started. */
  draining: boolean;
  /** The holder is about to let go of the run and begins nothing new: what is begun is performed, or no one could say whether it was. */
  isLeaving: boolean;
  /** False where time comes with the inputs: no timer is due by the clock. */
  followsClock: boolean;
  redactor: Redactor;
  /** What the redactor looks for; absent while nothing in the run is sensitive. */
  known: KnownValues | undefined;
  readonly masking: Masking;
  /** Sees every fact before it is recorded; what it returns is recorded first. */
  watch?: (event: StoredEvent) => Draft | undefined;
  /** Rough size of the state as JSON, for the state limit. */
  stateBytes: number;
  /** What the expressions, patterns and schemas of the decision at hand may still cost, all together. */
  readonly budget: WorkBudget;
}

/** The execution of a node that a step belongs to, and what it works with. */
export interface StepOwner {
  readonly node: NodePlan;
  readonly path: readonly number[];
  readonly inputs: JsonObject;
  readonly sensitivity: Sensitivity | undefined;
  /** Where the step is a call of a worker's code. */
  readonly call?: Pick<EffectRequest, 'node' | 'run'> | undefined;
}

/** What a batch writes into: its events, effects and aborts. */
export interface Batch {
  readonly run: LiveRun;
  readonly now: number;
  readonly random: number;
  /** Returns the sequence of the fact. */
  record(draft: Draft): number;
  /** The node's effect, at its present attempt. */
  perform(node: NodePlan, path: readonly number[], inputs: JsonObject, sensitivity?: Sensitivity): void;
  /** One step of a node; `isRepeat` as with `performAgain`. */
  performStep(step: StepState, of: StepOwner, isRepeat: boolean): void;
  /** The same of one that had begun before under an earlier holder. */
  performAgain(node: NodePlan, path: readonly number[], inputs: JsonObject, sensitivity?: Sensitivity): void;
  abort(key: EffectKey): void;
  spawn(request: ChildRequest): void;
  notify(signal: Signal): void;
}
