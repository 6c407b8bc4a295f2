/**
 * Frozen: databases in the field have this schema. A change is a new migration.
 *
 * Free runs by tenant: where more are due than can be taken, tenants take turns, however many runs of each are waiting.
 */
export const migration0008 = {
  version: 8,
  sql: `CREATE INDEX runs_in_turn ON runs (tenant, due_at)
  WHERE status < 6 AND holder IS NULL AND due_at IS NOT NULL`,
} as const;
