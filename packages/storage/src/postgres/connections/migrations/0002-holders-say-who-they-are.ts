/** Frozen: databases in the field have this schema. A change is a new migration. */
export const migration0002 = {
  version: 2,
  sql: 'ALTER TABLE holders ADD COLUMN about text',
} as const;
