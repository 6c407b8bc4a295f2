/**
 * Many runs side by side: which values every run of a runtime shows, and which come and go. A value that flickers
 * between runs of one runtime says little about another. The cells are ordinary v0 diffs.
 */
import { compareAt, EMPTY_TABLE, type ValueTable, valueAt } from '../bytes/value-table.ts';
import { cross } from '../contract/cross.ts';
import { diff } from '../contract/diff.ts';
import { concerns, type Diff, type Projection } from '../contract/document.ts';
import type { Evidence } from '../contract/evidence.ts';
import { CATEGORIES, type Category } from '../contract/vocabulary.ts';

export interface MatrixRun {
  readonly label: string;
  /** The caller's claim; runs without one form a group of their own. */
  readonly runtime?: string | undefined;
  /** Collected with `keepRawPaths` when it has a prefix. */
  readonly evidence: Evidence;
}

export type Presence = 'stable' | 'flickers' | 'absent';

export interface MatrixValue {
  readonly value: string;
  /** One entry per group, in the order of `groups`. */
  readonly seen: readonly { readonly in: number; readonly of: number; readonly presence: Presence }[];
}

export interface MatrixCell {
  readonly base: number;
  readonly head: number;
  readonly projection: Projection;
}

export interface Matrix {
  readonly runs: readonly {
    readonly label: string;
    readonly runId: string | undefined;
    readonly runtime: string | undefined;
    readonly isUsable: boolean;
  }[];
  readonly groups: readonly { readonly runtime: string | undefined; readonly runs: number }[];
  readonly values: Readonly<Record<Category, readonly MatrixValue[]>>;
  readonly cells: readonly MatrixCell[];
}

export function matrix(runs: readonly MatrixRun[]): Matrix {
  const usable = runs.filter((run) => isUsable(run.evidence));
  const runtimes = [...new Set(usable.map((run) => run.runtime))];
  return {
    runs: runs.map((run) => ({
      label: run.label,
      runId: run.evidence.health?.runId,
      runtime: run.runtime,
      isUsable: isUsable(run.evidence),
    })),
    groups: runtimes.map((runtime) => ({
      runtime,
      runs: usable.filter((run) => run.runtime === runtime).length,
    })),
    values: Object.fromEntries(
      CATEGORIES.map((category) => [category, countValues(usable, runtimes, category)]),
    ) as Record<Category, MatrixValue[]>,
    cells: pairs(runs),
  };
}

/** Its sets can be read; whether it is clean is another question. */
function isUsable(evidence: Evidence): boolean {
  return !evidence.problems.some((problem) => problem.effect === 'failed' && concerns(problem, 'capability'));
}

/** Walks all tables at once: each is in order, so the smallest value at hand is next. */
function countValues(
  runs: readonly MatrixRun[],
  runtimes: readonly (string | undefined)[],
  category: Category,
): MatrixValue[] {
  const tables = runs.map((run) => tableOf(run.evidence, category));
  const next = tables.map(() => 0);
  const sizes = runtimes.map((runtime) => runs.filter((run) => run.runtime === runtime).length);
  const values: MatrixValue[] = [];
  for (;;) {
    const least = smallest(tables, next);
    if (least === undefined) return values;
    const value = valueAt(tables[least] as ValueTable, next[least] as number);
    const holders = tables.map((_, index) => index).filter((index) => isSame(tables, next, least, index));
    const seen = runtimes.map((runtime, group) => {
      const count = holders.filter((index) => runs[index]?.runtime === runtime).length;
      const of = sizes[group] ?? 0;
      return { in: count, of, presence: presenceOf(count, of) };
    });
    values.push({ value, seen });
    for (const index of holders) next[index] = (next[index] as number) + 1;
  }
}

function presenceOf(count: number, of: number): Presence {
  if (count === 0) return 'absent';
  return count === of ? 'stable' : 'flickers';
}

function smallest(tables: readonly ValueTable[], next: readonly number[]): number | undefined {
  let least: number | undefined;
  tables.forEach((table, index) => {
    if ((next[index] as number) >= table.count) return;
    if (least === undefined || order(tables, next, index, least) < 0) least = index;
  });
  return least;
}

function isSame(
  tables: readonly ValueTable[],
  next: readonly number[],
  least: number,
  index: number,
): boolean {
  const isOver = (next[index] as number) >= (tables[index] as ValueTable).count;
  return !isOver && order(tables, next, index, least) === 0;
}

function order(tables: readonly ValueTable[], next: readonly number[], left: number, right: number): number {
  const a = tables[left] as ValueTable;
  const b = tables[right] as ValueTable;
  return compareAt(
    a.bytes,
    a.starts[next[left] as number] as number,
    b.bytes,
    b.starts[next[right] as number] as number,
  );
}

function tableOf(evidence: Evidence, category: Category): ValueTable {
  if (category === 'filesystem_paths' && evidence.surface?.canonicalPaths !== undefined)
    return evidence.surface.canonicalPaths;
  return evidence.surface?.raw[category] ?? EMPTY_TABLE;
}

function pairs(runs: readonly MatrixRun[]): MatrixCell[] {
  return runs.flatMap((base, i) =>
    runs
      .slice(i + 1)
      .map((head, offset) => ({ base: i, head: i + 1 + offset, projection: project(base, head) })),
  );
}

function project(base: MatrixRun, head: MatrixRun): Projection<Diff> {
  if (base.runtime === head.runtime) return diff(base.evidence, head.evidence);
  return cross(base.evidence, head.evidence, {
    baseRuntime: base.runtime,
    headRuntime: head.runtime,
    basePrefix: base.evidence.workDirPrefix,
    headPrefix: head.evidence.workDirPrefix,
  });
}
