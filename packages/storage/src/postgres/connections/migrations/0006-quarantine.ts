/**
 * Frozen: databases in the field have this schema. A change is a new migration.
 *
 * - `suspicion` is JSON (Suspicion in the port), and `quarantined` its time, for those who look for runs to take up.
 * - `lost_times` is how often in a row a run lost its holder while its log had the length `lost_seq`.
 */
export const migration0006 = {
  version: 6,
  sql: `
ALTER TABLE runs ADD COLUMN suspicion text, ADD COLUMN quarantined bigint,
  ADD COLUMN lost_seq integer, ADD COLUMN lost_times integer;
CREATE INDEX runs_quarantined ON runs (quarantined) WHERE quarantined IS NOT NULL AND status < 6`,
} as const;
