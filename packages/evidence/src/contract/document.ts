/** The two diff documents, as data. Field names are those of the wire. */
import type { Problem, SideProblem } from './problem.ts';
import type { SetDiff } from './set-diff.ts';
import type { Category, Status } from './vocabulary.ts';

export interface Preconditions {
  readonly base_health_clean: boolean;
  readonly head_health_clean: boolean;
  readonly base_correlation_clean: boolean;
  readonly head_correlation_clean: boolean;
  readonly stable_tool_call_ids_required: true;
  readonly stable_tool_call_ids_present: boolean;
}

export interface OutcomeChange {
  readonly tool_call_id: string;
  readonly base: string | null;
  readonly head: string | null;
}

export interface CapabilityDiff {
  readonly contract: 'capability';
  readonly status: Status;
  readonly baseRunId: string;
  readonly headRunId: string;
  readonly preconditions: Preconditions;
  readonly surface: Readonly<Record<Category, SetDiff>>;
  readonly bindingIds: SetDiff;
  readonly changedOutcomes: readonly OutcomeChange[];
  readonly notes: readonly string[];
}

export interface SdkMetadata {
  readonly sdk_name: string | null;
  readonly sdk_version: string | null;
}

export interface CrossRuntimeDiff {
  readonly contract: 'cross';
  readonly status: Status;
  readonly baseRunId: string;
  readonly headRunId: string;
  readonly baseRuntime: string;
  readonly headRuntime: string;
  readonly preconditions: Preconditions & { readonly runtimes_distinct: boolean };
  readonly surface: Readonly<Record<Category, SetDiff>>;
  readonly baseSdk: SdkMetadata;
  readonly headSdk: SdkMetadata;
  readonly notes: readonly string[];
}

export type Diff = CapabilityDiff | CrossRuntimeDiff;

/** A diff and everything that is worth knowing about how it came to its status. */
export interface Projection<D extends Diff = Diff> {
  readonly diff: D;
  readonly problems: readonly SideProblem[];
}

/** Whether a problem matters to this contract. */
export function concerns(problem: Problem, contract: Diff['contract']): boolean {
  return problem.only === undefined || problem.only === contract;
}
