/**
 * Frozen: databases in the field have this schema. A change is a new migration.
 *
 * - Runs are found by what they failed with, and by how their id begins.
 */
export const migration0011 = {
  version: 11,
  sql: `
CREATE INDEX runs_failed ON runs (tenant, error, created_at, ord) WHERE error IS NOT NULL;
CREATE INDEX runs_by_id ON runs (tenant, id)`,
} as const;
