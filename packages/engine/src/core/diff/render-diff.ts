import type { Json, JsonObject } from '@weft/protocol/plain';
import { canonicalText } from '../json/canonical-text.ts';
import type { Divergence, EventDifference } from './diff-events.ts';

/** Two runs compared. The differences can be read once. */
export interface RunDiff extends Divergence {
  readonly a: string;
  readonly b: string;
  readonly stateDiff: JsonObject;
  /** True when a run had not ended, or its log is incomplete, and a prefix was compared. */
  readonly truncated: boolean;
}

/** Small pieces are joined up to this length. */
const PIECE = 16 * 1024;

/** The protocol's document in canonical form, in pieces: members in order, so that the whole is canonical too. */
export async function* renderDiff(diff: RunDiff): AsyncGenerator<string, void, undefined> {
  const { a, b, divergedAtSeq, differences, truncated } = diff;
  let piece = `{"a":${JSON.stringify(a)},"b":${JSON.stringify(b)},"divergedAtSeq":${divergedAtSeq},"eventDiffs":[`;
  let separator = '';
  for await (const difference of differences) {
    piece += separator + renderDifference(difference);
    separator = ',';
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}],"stateDiff":${canonicalText(diff.stateDiff)}${truncated ? ',"truncated":true' : ''}}`;
}

function renderDifference(difference: EventDifference): string {
  const members: string[] = [];
  if (difference.op !== 'added') members.push(`"aEvent":${canonicalDocument(difference.aEvent)}`);
  if (difference.op !== 'removed') members.push(`"bEvent":${canonicalDocument(difference.bEvent)}`);
  members.push(`"op":"${difference.op}"`, `"seq":${difference.seq}`);
  return `{${members.join(',')}}`;
}

function canonicalDocument(document: string): string {
  return canonicalText(JSON.parse(document) as Json);
}
