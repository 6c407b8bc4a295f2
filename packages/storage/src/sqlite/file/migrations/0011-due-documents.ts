/**
 * Frozen: files in the field have this schema. A change is a new migration.
 *
 * Documents that are due at a time, oldest first, and by tenant: where more are due than can be taken, tenants take turns. Those
 * without a time are in neither index.
 */
export const migration0011 = {
  version: 11,
  sql: `
ALTER TABLE documents ADD COLUMN due_at INTEGER;
CREATE INDEX documents_due ON documents (collection, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX documents_due_in_turn ON documents (collection, tenant, due_at) WHERE due_at IS NOT NULL;
`,
} as const;
