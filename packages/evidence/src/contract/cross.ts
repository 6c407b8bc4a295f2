import { EMPTY_TABLE, type ValueTable } from '../bytes/value-table.ts';
import { areDistinct, type Declared, declaredProblems } from './declared.ts';
import { emptySurface } from './diff.ts';
import type { CrossRuntimeDiff, Projection, SdkMetadata } from './document.ts';
import type { Evidence } from './evidence.ts';
import { prefixNotes } from './prefix-notes.ts';
import { isFailed, preconditionsOf, sideProblems, statusOf } from './project.ts';
import { redactionNotes } from './redaction-notes.ts';
import { type SetDiff, setDiff } from './set-diff.ts';
import { CATEGORIES, type Category, CROSS_FAILED_NOTES, CROSS_NOTES } from './vocabulary.ts';

/**
 * Cross-runtime diff v0: what differs between two runtimes once each side's work dir is out of the way. Pure, and the
 * same for every runtime: a runtime's name is carried, never looked into. Each side must have been collected with the
 * prefix that is declared for it.
 */
export function cross(base: Evidence, head: Evidence, declared: Declared): Projection<CrossRuntimeDiff> {
  const problems = [
    ...declaredProblems(declared),
    ...sideProblems(base, 'base', 'cross'),
    ...sideProblems(head, 'head', 'cross'),
  ];
  const common = {
    contract: 'cross',
    baseRunId: base.health?.runId ?? '',
    headRunId: head.health?.runId ?? '',
    baseRuntime: declared.baseRuntime ?? '',
    headRuntime: declared.headRuntime ?? '',
    preconditions: { ...preconditionsOf(base, head), runtimes_distinct: areDistinct(declared) },
    baseSdk: sdkOf(base),
    headSdk: sdkOf(head),
  } as const;
  if (isFailed(problems))
    return {
      diff: { ...common, status: 'failed', surface: emptySurface(), notes: CROSS_FAILED_NOTES },
      problems,
    };

  requirePrefix(base, declared.basePrefix);
  requirePrefix(head, declared.headPrefix);
  const status = statusOf(common.preconditions);
  problems.push(...prefixNotes(base, 'base'), ...prefixNotes(head, 'head'), ...redactionNotes(base, head));
  return { diff: { ...common, status, surface: compareSurfaces(base, head), notes: CROSS_NOTES }, problems };
}

/** A mistake of the caller, not of the evidence: the paths in hand were made with another prefix. */
function requirePrefix(evidence: Evidence, prefix: string | undefined): void {
  if (evidence.workDirPrefix !== prefix)
    throw new TypeError('cross: collect each side with the workDirPrefix that is declared for it');
}

function sdkOf(evidence: Evidence): SdkMetadata {
  return { sdk_name: evidence.sdk?.name ?? null, sdk_version: evidence.sdk?.version ?? null };
}

function compareSurfaces(base: Evidence, head: Evidence): Record<Category, SetDiff> {
  return Object.fromEntries(
    CATEGORIES.map((category) => [
      category,
      setDiff(canonicalTable(base, category), canonicalTable(head, category)),
    ]),
  ) as Record<Category, SetDiff>;
}

function canonicalTable(evidence: Evidence, category: Category): ValueTable {
  if (category === 'filesystem_paths') return evidence.surface?.canonicalPaths ?? EMPTY_TABLE;
  return evidence.surface?.raw[category] ?? EMPTY_TABLE;
}
