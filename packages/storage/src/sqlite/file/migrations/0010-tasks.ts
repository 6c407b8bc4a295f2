/**
 * Frozen: files in the field have this schema. A change is a new migration.
 *
 * - `tasks` are put up for workers of other processes. `holder` is a number of this process, as in `runs`: a new owner knows none.
 */
export const migration0010 = {
  version: 10,
  sql: `
CREATE TABLE tasks (
  ord INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  rid INTEGER NOT NULL,
  run TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  type TEXT NOT NULL,
  version TEXT NOT NULL,
  once INTEGER NOT NULL,
  body TEXT NOT NULL,
  lease INTEGER NOT NULL DEFAULT 0,
  holder INTEGER,
  losses INTEGER NOT NULL DEFAULT 0,
  note TEXT,
  result TEXT
);
CREATE INDEX tasks_of_type ON tasks (tenant, type, version, ord) WHERE result IS NULL;
CREATE INDEX tasks_of_run ON tasks (rid);
`,
} as const;
