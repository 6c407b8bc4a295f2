/**
 * Frozen: databases in the field have this schema. A change is a new migration.
 *
 * `sum` and `overlay_sum` are checksums (checksum.ts); NULL in rows of older programs, which may still be running.
 */
export const migration0005 = {
  version: 5,
  sql: `
ALTER TABLE events ADD COLUMN sum integer, ADD COLUMN overlay_sum integer;
ALTER TABLE runs ADD COLUMN sum integer;
ALTER TABLE checkpoints ADD COLUMN sum integer`,
} as const;
