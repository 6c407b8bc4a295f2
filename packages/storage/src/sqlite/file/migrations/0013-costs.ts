/**
 * Frozen: files in the field have this schema. A change is a new migration.
 *
 * - `costs` has what model calls used, by run, UTC day and model. A row outlives its run: `run`, the id as 16 bytes, is then NULL.
 */
export const migration0013 = {
  version: 13,
  sql: `
CREATE TABLE costs (
  id INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  day INTEGER NOT NULL,
  workflow TEXT NOT NULL,
  run BLOB,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  nano_usd INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL
);
CREATE UNIQUE INDEX costs_of_run ON costs (run, day, provider, model) WHERE run IS NOT NULL;
CREATE INDEX costs_by_day ON costs (tenant, day);
`,
} as const;
