/**
 * Frozen: files in the field have this schema. A change is a new migration.
 *
 * - `suspicion` is JSON (Suspicion in the port), and `quarantined` its time, for those who look for runs to take up.
 * - `lost_times` is how often in a row a run lost its holder while its log had the length `lost_seq`.
 */
export const migration0007 = {
  version: 7,
  sql: `
ALTER TABLE runs ADD COLUMN suspicion TEXT;
ALTER TABLE runs ADD COLUMN quarantined INTEGER;
ALTER TABLE runs ADD COLUMN lost_seq INTEGER;
ALTER TABLE runs ADD COLUMN lost_times INTEGER;
CREATE INDEX runs_quarantined ON runs (quarantined) WHERE quarantined IS NOT NULL AND status < 6;
`,
} as const;
