import { placeOf } from '@weft/engine/compare';
import { isJsonObject } from '@weft/protocol/plain';
import type { RunEventDocument } from '@weft/sdk';

/** A place from which a branch is worth deciding again. */
export interface ForkPoint {
  /** The first event that the branch decides itself. */
  readonly fromSeq: number;
  readonly text: string;
}

const ANSWERS: ReadonlySet<string> = new Set([
  'approval.received',
  'clarification.resolved',
  'conversation.exchanged',
  'interrupt.resolved',
]);
const MOST = 500;

/** Where nodes began, and where answers were given: before an answer, a branch asks again. */
export function forkPoints(events: readonly RunEventDocument[]): ForkPoint[] {
  const points: ForkPoint[] = [];
  const answered = new Set<string>();
  for (const event of events) {
    const place = placeOf(event);
    if (event.type === 'node.started') points.push({ fromSeq: event.sequence, text: `node ${place} begins` });
    if (!ANSWERS.has(event.type)) continue;
    const payload = isJsonObject(event.payload) ? event.payload : {};
    const question = String(payload['interruptId'] ?? place);
    // An answer leaves several events; a branch that begins inside them would keep half of it.
    if (!answered.has(question))
      points.push({ fromSeq: event.sequence, text: `before the answer at ${place}` });
    answered.add(question);
  }
  return points.slice(0, MOST);
}

/** What most people mean: the failed node once more, else another answer, else all of it with other values. */
export function likelyPoint(points: readonly ForkPoint[], failedAt: number | undefined): number {
  const answer = points.findLast(({ text }) => text.startsWith('before'));
  return failedAt ?? answer?.fromSeq ?? points[0]?.fromSeq ?? 0;
}
