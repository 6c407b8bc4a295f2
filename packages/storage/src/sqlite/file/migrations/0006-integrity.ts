/**
 * Frozen: files in the field have this schema. A change is a new migration.
 *
 * - `sum` and `overlay_sum` are checksums (checksum.ts); NULL in rows that were written before.
 * - `progress` has one row: which commit this database has come to. The same stands outside of it (high-water-mark.ts).
 */
export const migration0006 = {
  version: 6,
  sql: `
ALTER TABLE events ADD COLUMN sum INTEGER;
ALTER TABLE events ADD COLUMN overlay_sum INTEGER;
ALTER TABLE runs ADD COLUMN sum INTEGER;
ALTER TABLE checkpoints ADD COLUMN sum INTEGER;

CREATE TABLE progress (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  batch BLOB NOT NULL
);
INSERT INTO progress (id, number, at, batch) VALUES (1, 0, 0, zeroblob(16));
`,
} as const;
