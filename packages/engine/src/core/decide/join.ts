import type { TriggerRule } from '../compile/plan.ts';

/** How the incoming edges of a node stand. A not-taken edge counts like a skipped upstream. */
export interface EdgeCounts {
  readonly pending: number;
  readonly success: number;
  readonly failed: number;
  readonly skipped: number;
}

export type JoinDecision = 'wait' | 'fire' | 'skip';

/** The five join rules as a table: what the counts of a target's incoming edges mean for it. */
export function decideJoin(rule: TriggerRule, edges: EdgeCounts): JoinDecision {
  switch (rule) {
    case 'all_success':
      if (edges.pending > 0) return 'wait';
      return edges.failed === 0 && edges.success > 0 ? 'fire' : 'skip';
    case 'any_success':
      if (edges.success > 0) return 'fire';
      return edges.pending > 0 ? 'wait' : 'skip';
    case 'all_complete':
      return edges.pending > 0 ? 'wait' : 'fire';
    case 'none_failed':
      if (edges.failed > 0) return 'skip';
      return edges.pending > 0 ? 'wait' : 'fire';
    case 'any_failed':
      if (edges.failed > 0) return 'fire';
      return edges.pending > 0 ? 'wait' : 'skip';
  }
}

/** True when one settled edge of this outcome can decide the rule while others are still pending. */
export function decidesAlone(rule: TriggerRule, outcome: 'success' | 'failed' | 'skipped'): boolean {
  switch (rule) {
    case 'any_success':
      return outcome === 'success';
    case 'any_failed':
    case 'none_failed':
      return outcome === 'failed';
    case 'all_success':
    case 'all_complete':
      return false;
  }
}
