import {
  findDivergence,
  type LogEvent,
  pairByNode,
  payloadChanges,
  placeOf,
  stateDiff,
} from '@weft/engine/compare';
import type { FieldChange } from '@weft/engine/compare';
import { fieldChanges } from '@weft/engine/compare';
import { isJsonObject, type JsonObject } from '@weft/protocol/plain';
import type { EventDifferenceDocument, RunDocument, RunEventDocument } from '@weft/sdk';
import type { Mark } from '../graph/graph-view.tsx';
import { nodeIdOf } from '../run/run-fold.ts';

/** The protocol's comparison: by sequence and nothing else. */
export interface StrictDiff {
  readonly divergedAtSeq: number | null;
  readonly differences: readonly EventDifferenceDocument[];
  readonly stateChanges: readonly FieldChange[];
  /** There are more differences than are listed. */
  readonly isCut: boolean;
}

const MAX_DIFFERENCES = 10_000;

/** The same rules as a host's own, for logs that are here. */
export async function strictDiff(a: ComparedRun, b: ComparedRun): Promise<StrictDiff> {
  const { divergedAtSeq, differences } = await findDivergence(pagesOf(a.events), pagesOf(b.events));
  const found: EventDifferenceDocument[] = [];
  let isCut = false;
  for await (const difference of differences) {
    isCut = found.length >= MAX_DIFFERENCES;
    if (isCut) break;
    found.push({
      seq: difference.seq,
      op: difference.op,
      ...('aEvent' in difference && { aEvent: JSON.parse(difference.aEvent) as RunEventDocument }),
      ...('bEvent' in difference && { bEvent: JSON.parse(difference.bEvent) as RunEventDocument }),
    });
  }
  return { divergedAtSeq, differences: found, stateChanges: stateChangesOf(stateDiff(a.run, b.run)), isCut };
}

export interface ComparedRun {
  readonly run: RunDocument;
  readonly events: readonly RunEventDocument[];
}

async function* pagesOf(events: readonly RunEventDocument[]): AsyncGenerator<readonly LogEvent[]> {
  yield events.map((event) => ({
    seq: event.sequence,
    type: event.type,
    payload: JSON.stringify(event.payload ?? null),
    get document() {
      return JSON.stringify(event);
    },
  }));
}

/** A state difference is given as whole values of both sides; what a person wants to see are the fields in which they differ. */
export function stateChangesOf(stateDiff: JsonObject): FieldChange[] {
  return Object.entries(stateDiff).flatMap(([name, sides]) =>
    isJsonObject(sides) ? fieldChanges(sides['a'], sides['b'], name) : [],
  );
}

/** Events paired by node, type and occurrence: not the protocol's comparison, but what a person asks for. */
export interface AlignedRow {
  readonly op: 'same' | 'changed' | 'added' | 'removed';
  /** Node and iteration; undefined for what is of the run itself. */
  readonly place: string | undefined;
  readonly type: string;
  readonly aEvent?: RunEventDocument;
  readonly bEvent?: RunEventDocument;
  readonly changes: readonly FieldChange[];
}

export function alignedRows(a: readonly RunEventDocument[], b: readonly RunEventDocument[]): AlignedRow[] {
  return pairByNode(a, b).flatMap(({ aEvent, bEvent }): AlignedRow[] => {
    const event = aEvent ?? bEvent;
    if (event === undefined) return [];
    const changes = aEvent === undefined || bEvent === undefined ? [] : payloadChanges(aEvent, bEvent);
    const op =
      aEvent === undefined
        ? 'added'
        : bEvent === undefined
          ? 'removed'
          : changes.length > 0
            ? 'changed'
            : 'same';
    return [
      {
        op,
        place: placeOf(event),
        type: event.type,
        ...(aEvent !== undefined && { aEvent }),
        ...(bEvent !== undefined && { bEvent }),
        changes,
      },
    ];
  });
}

/** How each node of the graph compares, over all of its events. */
export function marksOf(rows: readonly AlignedRow[]): Map<string, Mark> {
  const ops = new Map<string, Set<AlignedRow['op']>>();
  for (const { place, op } of rows) {
    if (place === undefined) continue;
    const id = nodeIdOf(place);
    ops.set(id, (ops.get(id) ?? new Set()).add(op));
  }
  return new Map([...ops].map(([id, found]) => [id, markOf(found)]));
}

function markOf(ops: ReadonlySet<AlignedRow['op']>): Mark {
  if (ops.size > 1) return 'changed';
  if (ops.has('added')) return 'only-b';
  if (ops.has('removed')) return 'only-a';
  return ops.has('changed') ? 'changed' : 'same';
}
