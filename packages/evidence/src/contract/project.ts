/** What both projections share: which problems count, the preconditions, and the status they lead to. */
import { concerns, type Diff, type Preconditions } from './document.ts';
import type { Evidence } from './evidence.ts';
import type { Side, SideProblem } from './problem.ts';
import type { Status } from './vocabulary.ts';

export function sideProblems(evidence: Evidence, side: Side, contract: Diff['contract']): SideProblem[] {
  return evidence.problems
    .filter((problem) => concerns(problem, contract))
    .map((problem) => ({ ...problem, side }));
}

/** A precondition that is not proven is false. */
export function preconditionsOf(base: Evidence, head: Evidence): Preconditions {
  return {
    base_health_clean: base.health?.isClean === true,
    head_health_clean: head.health?.isClean === true,
    base_correlation_clean: base.correlation?.isClean === true,
    head_correlation_clean: head.correlation?.isClean === true,
    stable_tool_call_ids_required: true,
    stable_tool_call_ids_present:
      base.correlation?.hasStableIds === true && head.correlation?.hasStableIds === true,
  };
}

export function isFailed(problems: readonly SideProblem[]): boolean {
  return problems.some((problem) => problem.effect === 'failed');
}

/** Health is looked at before correlation, so a run that is bad in both is `partial:health`. */
export function statusOf(preconditions: Preconditions): Exclude<Status, 'failed'> {
  if (!preconditions.base_health_clean || !preconditions.head_health_clean) return 'partial:health';
  const isCorrelated = preconditions.base_correlation_clean && preconditions.head_correlation_clean;
  return isCorrelated && preconditions.stable_tool_call_ids_present ? 'clean' : 'partial:correlation';
}
