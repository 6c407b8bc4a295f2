import { Type } from 'typebox';
import { RunEventDocSchema } from '../events/events.ts';
import { closed, count, jsonObject, runId } from './schema-parts.ts';

const optional = Type.Optional;

const EventDifferenceSchema = closed({
  seq: count,
  op: Type.Enum(['added', 'removed', 'changed'], { description: 'added: only in b; removed: only in a.' }),
  aEvent: optional(RunEventDocSchema),
  bEvent: optional(RunEventDocSchema),
});

/** How run a (of the path) and run b (of the query) differ. Closed, unlike other answers: the protocol wants it so. */
export const RunDiffSchema = closed({
  a: runId,
  b: runId,
  divergedAtSeq: Type.Union([count, Type.Null()], {
    description: 'Where the logs part; null when they are equal.',
  }),
  eventDiffs: Type.Array(EventDifferenceSchema),
  stateDiff: jsonObject,
  truncated: optional(Type.Boolean({ description: 'A run was still active, or is known only in part.' })),
});
