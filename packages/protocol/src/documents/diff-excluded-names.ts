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
