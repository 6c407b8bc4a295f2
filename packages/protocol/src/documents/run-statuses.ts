export const RUN_STATUSES = [
  'pending',
  'running',
  'paused',
  'waiting-approval',
  'waiting-input',
  'waiting-external',
  'completed',
  'failed',
  'cancelling',
  'cancelled',
] as const;

/** Every status a snapshot can show; `cancelling` is never stored. */
export type SnapshotStatus = (typeof RUN_STATUSES)[number];
