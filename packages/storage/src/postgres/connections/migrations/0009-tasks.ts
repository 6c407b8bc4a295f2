/**
 * Frozen: databases in the field have this schema. A change is a new migration.
 *
 * - `tasks` are put up by the holder of a run for workers of other processes, which lease them. `ord` is the order in which they were.
 */
export const migration0009 = {
  version: 9,
  sql: `
CREATE TABLE tasks (
  id text PRIMARY KEY,
  ord bigint GENERATED ALWAYS AS IDENTITY,
  run uuid NOT NULL,
  epoch integer NOT NULL,
  tenant text NOT NULL,
  type text NOT NULL,
  version text NOT NULL,
  once boolean NOT NULL,
  body text NOT NULL,
  lease integer NOT NULL DEFAULT 0,
  holder text,
  losses integer NOT NULL DEFAULT 0,
  note text,
  result text
);
CREATE INDEX tasks_of_type ON tasks (tenant, type, version, ord) WHERE result IS NULL;
CREATE INDEX tasks_of_run ON tasks (run)`,
} as const;
