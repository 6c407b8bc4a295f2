/**
 * Frozen: files in the field have this schema. A change is a new migration.
 *
 * - `forks` tells which runs read the log of another; `source` is that run's 16 bytes, because it may be gone.
 * - `tombstones` are what is left of purged runs, by their 16 bytes.
 * - `outbox_runs` finds what is still to be delivered of a run that goes.
 * - `runs.erased` is when the private parts of a run were erased, counted from `created_at` like its other times.
 */
export const migration0004 = {
  version: 4,
  sql: `
ALTER TABLE runs ADD COLUMN erased INTEGER;

CREATE TABLE forks (
  source BLOB NOT NULL,
  rid INTEGER NOT NULL,
  PRIMARY KEY (source, rid)
) WITHOUT ROWID;
INSERT OR IGNORE INTO forks (source, rid)
  SELECT unhex(replace(json_extract(more, '$.fork.sourceRunId'), '-', '')), rid FROM runs
  WHERE json_extract(more, '$.fork.sourceRunId') IS NOT NULL;

CREATE TABLE tombstones (
  id BLOB PRIMARY KEY,
  tenant INTEGER NOT NULL,
  purged_at INTEGER NOT NULL,
  until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX outbox_runs ON outbox (rid);
CREATE INDEX tombstones_expiring ON tombstones (until);
`,
} as const;
