/**
 * Frozen: databases in the field have this schema. A change is a new migration.
 *
 * - `costs` has what model calls used, by run, UTC day and model. A row outlives its run: `run` is then NULL.
 */
export const migration0012 = {
  version: 12,
  sql: `
CREATE TABLE costs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,
  day integer NOT NULL,
  workflow text NOT NULL,
  run uuid,
  provider text NOT NULL,
  model text NOT NULL,
  calls bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  nano_usd bigint NOT NULL,
  unpriced_calls bigint NOT NULL
);
CREATE UNIQUE INDEX costs_of_run ON costs (run, day, provider, model) WHERE run IS NOT NULL;
CREATE INDEX costs_by_day ON costs (tenant, day, id)`,
} as const;
