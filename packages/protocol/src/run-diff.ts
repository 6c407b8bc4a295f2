import { Type } from 'typebox';
import { RunEventDocSchema } from './events.ts';
import { closed, count, jsonObject, runId } from './schema-parts.ts';

const optional = Type.Optional;

/**
 * Members at the top of a payload that do not count when two events are compared: run-scoped ids, wall-clock time and
 * transport metadata. They differ between any two runs, however equal.
 */
export const DIFF_EXCLUDED_NAMES: ReadonlySet<string> = new Set([
  'eventId',
  'runId',
  'causationId',
  'correlationId',
  'ts',
  'timestamp',
  'traceparent',
  'tracestate',
]);

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
  truncated: optional(Type.Boolean({ description: 'A run was still going on, or is known only in part.' })),
});
