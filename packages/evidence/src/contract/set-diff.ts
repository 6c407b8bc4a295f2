import { compareAt, EMPTY_TABLE, type ValueTable, valueAt } from '../bytes/value-table.ts';

export type Part = 'added' | 'removed' | 'unchanged';
export const PARTS: readonly Part[] = ['added', 'removed', 'unchanged'];

/** Two sets and, per value, whether the other has it. The parts are views; no value is copied. */
export interface SetDiff {
  readonly base: ValueTable;
  readonly head: ValueTable;
  /** 1 for each value of base that head lacks. */
  readonly onlyInBase: Uint8Array;
  /** 1 for each value of head that base lacks. */
  readonly onlyInHead: Uint8Array;
  readonly counts: Readonly<Record<Part, number>>;
}

/** One walk over both, which is possible because both are in order. */
export function setDiff(base: ValueTable, head: ValueTable): SetDiff {
  const onlyInBase = new Uint8Array(base.count);
  const onlyInHead = new Uint8Array(head.count);
  let added = 0;
  let removed = 0;
  let i = 0;
  let j = 0;
  while (i < base.count && j < head.count) {
    const order = compareAt(base.bytes, base.starts[i] as number, head.bytes, head.starts[j] as number);
    if (order < 0) {
      onlyInBase[i++] = 1;
      removed += 1;
    } else if (order > 0) {
      onlyInHead[j++] = 1;
      added += 1;
    } else {
      i += 1;
      j += 1;
    }
  }
  removed += base.count - i;
  added += head.count - j;
  onlyInBase.fill(1, i);
  onlyInHead.fill(1, j);
  return { base, head, onlyInBase, onlyInHead, counts: { added, removed, unchanged: base.count - removed } };
}

export const EMPTY_DIFF: SetDiff = setDiff(EMPTY_TABLE, EMPTY_TABLE);

export interface PartView {
  readonly table: ValueTable;
  readonly marks: Uint8Array;
  /** The mark of the values that belong to the part. */
  readonly wanted: 0 | 1;
}

export function partView(diff: SetDiff, part: Part): PartView {
  if (part === 'added') return { table: diff.head, marks: diff.onlyInHead, wanted: 1 };
  return { table: diff.base, marks: diff.onlyInBase, wanted: part === 'removed' ? 1 : 0 };
}

/** The values of a part as strings, in order. */
export function partValues(diff: SetDiff, part: Part): string[] {
  const { table, marks, wanted } = partView(diff, part);
  const values: string[] = [];
  for (let index = 0; index < table.count; index += 1)
    if (marks[index] === wanted) values.push(valueAt(table, index));
  return values;
}

export function isUnchanged(diff: SetDiff): boolean {
  return diff.counts.added === 0 && diff.counts.removed === 0;
}
