import { EMPTY_TABLE, tableOf } from '../bytes/value-table.ts';
import { compareText } from '../bytes/wtf8.ts';
import type { CapabilityDiff, OutcomeChange, Projection } from './document.ts';
import type { Evidence } from './evidence.ts';
import { READABLE, type SideProblem } from './problem.ts';
import { isFailed, preconditionsOf, sideProblems, statusOf } from './project.ts';
import { redactionNotes } from './redaction-notes.ts';
import { EMPTY_DIFF, isUnchanged, type SetDiff, setDiff } from './set-diff.ts';
import { CATEGORIES, type Category, IDEMPOTENT_NOTE, SURFACE_FILE, type Status } from './vocabulary.ts';

/**
 * Capability diff v0: what changed between two runs of one runtime. Pure; describes and never judges. When the evidence
 * cannot be compared the status is `failed` and every set is empty: a half-computed diff is never shown.
 */
export function diff(base: Evidence, head: Evidence): Projection<CapabilityDiff> {
  const problems = [...sideProblems(base, 'base', 'capability'), ...sideProblems(head, 'head', 'capability')];
  const preconditions = preconditionsOf(base, head);
  const runIds = { baseRunId: base.health?.runId ?? '', headRunId: head.health?.runId ?? '' };
  const common = { contract: 'capability', preconditions, ...runIds } as const;
  if (isFailed(problems)) return { diff: { ...common, ...nothingCompared() }, problems };

  const surface = compareSurfaces(base, head);
  const bindingIds = setDiff(idsOf(base), idsOf(head));
  const changedOutcomes = compareOutcomes(base, head);
  const conflict = policyConflict(surface, bindingIds, changedOutcomes);
  const status = statusOf(preconditions);
  if (conflict && status === 'clean')
    return { diff: { ...common, ...nothingCompared() }, problems: [...problems, policyProblem('failed')] };
  if (conflict) problems.push(policyProblem('note'));
  else problems.push(...outcomeHints(surface, bindingIds, changedOutcomes));
  problems.push(...redactionNotes(base, head));
  const notes = isIdempotent(status, surface, bindingIds, changedOutcomes) ? [IDEMPOTENT_NOTE] : [];
  return { diff: { ...common, status, surface, bindingIds, changedOutcomes, notes }, problems };
}

type Compared = Pick<CapabilityDiff, 'status' | 'surface' | 'bindingIds' | 'changedOutcomes' | 'notes'>;

function nothingCompared(): Compared {
  return {
    status: 'failed',
    surface: emptySurface(),
    bindingIds: EMPTY_DIFF,
    changedOutcomes: [],
    notes: [],
  };
}

export function emptySurface(): Record<Category, SetDiff> {
  return Object.fromEntries(CATEGORIES.map((category) => [category, EMPTY_DIFF])) as Record<
    Category,
    SetDiff
  >;
}

function compareSurfaces(base: Evidence, head: Evidence): Record<Category, SetDiff> {
  return Object.fromEntries(
    CATEGORIES.map((category) => {
      const before = base.surface?.raw[category] ?? EMPTY_TABLE;
      return [category, setDiff(before, head.surface?.raw[category] ?? EMPTY_TABLE)];
    }),
  ) as Record<Category, SetDiff>;
}

function idsOf(evidence: Evidence) {
  return tableOf(evidence.correlation?.decisions.keys() ?? []);
}

function compareOutcomes(base: Evidence, head: Evidence): OutcomeChange[] {
  const changes: OutcomeChange[] = [];
  const after = head.correlation?.decisions;
  for (const [id, before] of base.correlation?.decisions ?? []) {
    const now = after?.get(id);
    if (now !== undefined && now !== before) changes.push({ tool_call_id: id, base: before, head: now });
  }
  return changes.sort((a, b) => compareText(a.tool_call_id, b.tool_call_id));
}

/**
 * The summary of decisions changed although the same calls ended the same. From the three files only this much can be
 * checked: a summary names a tool, a binding does not.
 */
function policyConflict(
  surface: Record<Category, SetDiff>,
  bindingIds: SetDiff,
  changed: readonly OutcomeChange[],
): boolean {
  return isUnchanged(bindingIds) && !isUnchanged(surface.policy_decisions) && changed.length === 0;
}

function policyProblem(effect: 'failed' | 'note'): SideProblem {
  return {
    code: 'policy_inconsistent',
    effect,
    side: 'head',
    file: SURFACE_FILE,
    field: '/policy_decisions',
    found: 'decisions that differ from the base, while every call is on both sides with the same outcome',
    needed: 'a changed outcome of some call, or an added or removed call',
    readable: 'The other categories. Surface and correlation report contradict each other about policy.',
    only: 'capability',
  };
}

function outcomeHints(
  surface: Record<Category, SetDiff>,
  bindingIds: SetDiff,
  changed: readonly OutcomeChange[],
): SideProblem[] {
  const moved = !isUnchanged(surface.policy_decisions);
  const place = { side: 'head', file: SURFACE_FILE, field: '/policy_decisions', only: 'capability' } as const;
  if (changed.length > 0 && !moved)
    return [
      {
        ...place,
        code: 'outcome_without_summary',
        effect: 'note',
        found: `${changed.length} changed outcomes, the same decision strings`,
        needed: 'nothing; the contract checks the other direction only',
        readable: READABLE.all,
      },
    ];
  if (moved && !isUnchanged(bindingIds))
    return [
      {
        ...place,
        code: 'summary_not_attributable',
        effect: 'note',
        found: 'changed decision strings together with added or removed calls',
        needed: 'nothing; which call a decision string belongs to is unknown',
        readable: READABLE.all,
      },
    ];
  return [];
}

/** The note is about content: run ids may differ. */
function isIdempotent(
  status: Status,
  surface: Record<Category, SetDiff>,
  bindingIds: SetDiff,
  changed: readonly OutcomeChange[],
): boolean {
  if (status !== 'clean' || changed.length > 0 || !isUnchanged(bindingIds)) return false;
  return CATEGORIES.every((category) => isUnchanged(surface[category]));
}
