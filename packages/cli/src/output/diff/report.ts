import type { AlignedPair } from '@weft/engine/compare';
import type { EventDifferenceDocument, RunDocument, RunEventDocument } from '@weft/sdk';
import type { DiffOutline } from './read-diff.ts';
import { countText } from '../count-text.ts';

export type EventPair = AlignedPair<RunEventDocument>;

/** What the views show: the same for the terminal and for the page. */
export interface DiffReport {
  readonly a: ReportSide;
  readonly b: ReportSide;
  readonly first: EventDifferenceDocument | undefined;
  /** The first of them, as many as are to be shown. */
  readonly differences: readonly EventDifferenceDocument[];
  readonly total: number;
  /** Absent when reading stopped at the first difference. */
  readonly outline: DiffOutline | undefined;
  /** The second view, when it was asked for; not the protocol's. */
  readonly aligned: AlignedView | undefined;
  /** Only the second view is shown: what differs by sequence alone says little of a run that left another one. */
  readonly isAlignedAlone?: true;
}

export interface AlignedView {
  readonly pairs: readonly EventPair[];
  readonly total: number;
}

export interface ReportSide {
  readonly label: string;
  readonly run: RunDocument;
}

export interface Group<Item> {
  readonly place: string;
  readonly items: readonly Item[];
}

/** Items by the node they belong to; nodes in the order in which they first differ, items in theirs. */
export function groupBy<Item>(items: readonly Item[], placeOf: (item: Item) => string): Group<Item>[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const place = placeOf(item);
    const known = groups.get(place);
    if (known === undefined) groups.set(place, [item]);
    else known.push(item);
  }
  return [...groups].map(([place, members]) => ({ place, items: members }));
}

/** In one sentence, what the comparison found. */
export function verdict(report: DiffReport): string {
  const { first, outline, total } = report;
  if (first !== undefined) {
    const count = outline === undefined ? '' : `; ${countText(total, 'event differs', 'events differ')}`;
    return `First difference at #${first.seq}${count}.`;
  }
  if (Object.keys(outline?.stateDiff ?? {}).length > 0)
    return 'The same events, but the states they led to differ.';
  return 'No difference.';
}

export function isDifferent({ total, outline }: Pick<DiffReport, 'total' | 'outline'>): boolean {
  return total > 0 || Object.keys(outline?.stateDiff ?? {}).length > 0;
}
