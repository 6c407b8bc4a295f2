import type { JsonObject, TaskMessage } from '@weft/protocol';
import type { BudgetBreach, Spent } from '../costs/budget.ts';
import type { ChildSpec, NodeEvent, NodeResult, OutputChunk, PerformedStep } from '../../model/node-type.ts';
import type { Command, Signal, StoredEvent, CommandResult } from '../../ports/store.ts';
import type { EffectKey, NodeError, NodeKey } from '../../model/run-state.ts';
import type { NodePlan } from '../compile/plan.ts';
import type { KnownTexts, Masking } from '../redaction/redaction.ts';
import type { Sensitivity } from '../redaction/sensitivity.ts';

/** What can move a run. Time, chance and outcomes come in as data; the core asks for nothing. */
export type Input =
  /** First look at a pending run. Where commands wait, they are decided before its first node. */
  | { readonly type: 'start'; readonly commandsWait?: boolean }
  /**
   * A new holder folded the log: nothing is in flight, so started effects must be performed again (or failed). Where commands wait,
   * nothing else is decided: they were accepted before the due timers were read.
   */
  | { readonly type: 'recovered'; readonly commandsWait?: boolean }
  /** Time has passed: timers, retries and deadlines are looked at. */
  | { readonly type: 'tick' }
  /** First look at a fork: its prefix was another run's, and what was running there is not running here. */
  | { readonly type: 'forked' }
  /** Continues where a batch was cut by its budget. Where commands wait, timers are left for later. */
  | { readonly type: 'continue'; readonly commandsWait?: boolean }
  | { readonly type: 'outcome'; readonly key: EffectKey; readonly attempt: number; readonly outcome: Outcome }
  /** Streamed text of a running effect, or facts that it tells before its end. */
  | {
      readonly type: 'progress';
      readonly key: EffectKey;
      readonly attempt: number;
      readonly chunks: readonly NumberedChunk[];
      readonly events?: readonly NodeEvent[];
    }
  /** A child run exists now, or cannot be created. */
  | {
      readonly type: 'child-created';
      readonly key: NodeKey;
      readonly childRunId: string;
      readonly error?: NodeError;
    }
  /** Other waiting commands come before due timers: all were accepted before the timers were read. */
  | { readonly type: 'command'; readonly command: Command; readonly commandsWait?: boolean };

/** How an effect ended. */
export type Outcome =
  | ({ readonly ok: true } & NodeResult)
  | {
      readonly ok: false;
      readonly error: NodeError;
      /** Facts to record before the failure, in order: what the node has logged and used. */
      readonly events?: readonly NodeEvent[];
      /** A call was not made, for want of a budget: the run ends. */
      readonly breach?: BudgetBreach;
      readonly retryAfterMs?: number;
      /** The delay before the retry, where it is on record. */
      readonly delayMs?: number;
    };

export interface Moment {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Drawn for this step, 0 ≤ random < 1: retry jitter uses it. */
  readonly random: number;
}

/** Where a pure batch ends at the latest. */
export interface Budget {
  readonly maxNodes: number;
  readonly maxBytes: number;
  /** Asked after every node; true ends the batch. The runtime passes a clock check, tests pass `() => false`. */
  readonly spent: () => boolean;
  /** Asked before every decision; false ends the batch. Absent = always. */
  readonly canContinue?: (() => boolean) | undefined;
}

/** The result of one batch: facts to append, and what to do once they are durable. */
export interface Step {
  readonly events: readonly StoredEvent[];
  /** To perform after the commit. */
  readonly effects: readonly EffectRequest[];
  /** Child runs to create after the commit. */
  readonly children: readonly ChildRequest[];
  /** Commands for other runs, to be written with the events. */
  readonly signals: readonly Signal[];
  /** In-flight effects to abort after the commit. */
  readonly aborts: readonly EffectKey[];
  /** Present when the input was a command that has been decided. Absent: the command waits (a drain), try again later. */
  readonly commandResult?: CommandResult;
  /** True when pure work is left: commit, yield, then `advance` with `continue`. */
  readonly more: boolean;
}

export interface EffectRequest {
  readonly key: EffectKey;
  readonly node: NodePlan;
  readonly iteration: readonly number[];
  readonly attempt: number;
  /** How often the node has been entered before by way of a loop back or a trigger; absent = never. */
  readonly visit?: number | undefined;
  readonly inputs: JsonObject;
  /** Of a node that works in steps: the one to perform. */
  readonly step?: PerformedStep;
  /** Of a call of a worker's code that uses its run: what it gets of it. */
  readonly run?: NonNullable<TaskMessage['run']>;
  /** Where the run holds something sensitive. */
  readonly redaction?: EffectRedaction;
  /** By the run so far, where it has a budget. */
  readonly spent?: Spent;
  /** Per attempt, 0 = none. */
  readonly timeoutMs: number;
  /** It had begun before under an earlier holder, and may have been performed. */
  readonly isRepeat?: true;
}

/** What an effect must not leave where others read it. */
export interface EffectRedaction {
  /** Of its inputs, by port. */
  readonly inputs: Sensitivity | undefined;
  /** Of the run, what the effect was given included. It changes as the run proceeds. */
  readonly known: KnownTexts;
  readonly masking: Masking;
}

/** A child run to create, under an id that the log has already fixed: creating it twice is creating it once. */
export interface ChildRequest {
  readonly key: NodeKey;
  readonly nodeId: string;
  readonly childRunId: string;
  readonly spec: Pick<ChildSpec, 'workflowId' | 'inputs' | 'outputMapping' | 'propagateCancellation'>;
  /** By name: inputs that must not be shown. */
  readonly sensitiveInputs?: Sensitivity;
}

/** A piece of streamed text with its place in what this performance has streamed. */
export interface NumberedChunk extends OutputChunk {
  readonly index: number;
}
