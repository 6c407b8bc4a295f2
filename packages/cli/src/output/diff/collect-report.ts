import { alignByNode } from '@weft/engine/compare';
import type { EventDifferenceDocument } from '@weft/sdk';
import { type OpenSide, wholeLog } from './compare.ts';
import type { DiffReader } from './read-diff.ts';
import type { AlignedView, DiffReport } from './report.ts';

export interface Collected {
  /** How many differences are kept, of either view. */
  readonly limit: number;
  readonly isFirst: boolean;
  readonly isAligned: boolean;
}

/** Reads the differences, and keeps as many as are shown. */
export async function collectReport(
  reader: DiffReader,
  a: OpenSide,
  b: OpenSide,
  { limit, isFirst, isAligned }: Collected,
): Promise<DiffReport> {
  const differences: EventDifferenceDocument[] = [];
  let total = 0;
  for await (const difference of reader.differences) {
    total += 1;
    if (differences.length < limit) differences.push(difference);
    if (isFirst) break;
  }
  const isCut = isFirst && total > 0;
  return {
    a,
    b,
    first: differences[0],
    differences,
    total,
    outline: isCut ? undefined : reader.outline(),
    aligned: isAligned ? await aligned(a, b, limit) : undefined,
  };
}

async function aligned(a: OpenSide, b: OpenSide, limit: number): Promise<AlignedView> {
  const pairs = alignByNode(await wholeLog(a), await wholeLog(b));
  return { pairs: pairs.slice(0, limit), total: pairs.length };
}
