/**
 * Frozen: databases in the field have this schema. A change is a new migration.
 *
 * - What the creation records of many runs have in common stands in `origins` once; a run without a number has all of it in its
 *   own `record`, as runs of older programs do. Rows are a third of what they were, so more of a page may be filled at first.
 * - `holders.schema` says which schema a process knows. Older programs that are still running cannot read short records, so none
 *   is written before they are gone.
 */
export const migration0004 = {
  version: 4,
  sql: `
CREATE TABLE origins (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  body text NOT NULL UNIQUE
);
ALTER TABLE runs ADD COLUMN origin integer;
ALTER TABLE runs SET (fillfactor = 90);
ALTER TABLE holders ADD COLUMN schema integer`,
} as const;
