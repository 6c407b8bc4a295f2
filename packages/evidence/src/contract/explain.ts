import type { Diff, Projection } from './document.ts';
import type { SideProblem } from './problem.ts';
import type { Status } from './vocabulary.ts';

/** Why a diff has its status: every reason at once, and what may still be read. */
export interface Explanation {
  readonly contract: Diff['contract'];
  readonly status: Status;
  /** Everything that keeps the diff from being clean, the gravest first. */
  readonly reasons: readonly SideProblem[];
  /** Worth knowing; changes nothing. */
  readonly notes: readonly SideProblem[];
  /** One sentence about the diff as a whole. */
  readonly summary: string;
}

const GRAVITY = ['failed', 'partial:health', 'partial:correlation'];

const SUMMARY: Readonly<Record<Status, string>> = {
  clean:
    'Every precondition holds. The diff says what was observed; whether a difference matters is for its reader.',
  'partial:health':
    'The sets were compared, but at least one run was not observed completely. A value listed was observed; a value missing may only have been missed.',
  'partial:correlation':
    'The sets were compared, but at least one run could not tie its policy decisions to calls. The sets hold; nothing may be said about a single call.',
  failed: 'Nothing was compared. Each run may still be looked at alone.',
};

export function explain(projection: Projection): Explanation {
  const { diff, problems } = projection;
  const reasons = problems
    .filter((problem) => problem.effect !== 'note')
    .sort((a, b) => GRAVITY.indexOf(a.effect) - GRAVITY.indexOf(b.effect));
  const notes = problems.filter((problem) => problem.effect === 'note');
  return { contract: diff.contract, status: diff.status, reasons, notes, summary: SUMMARY[diff.status] };
}
