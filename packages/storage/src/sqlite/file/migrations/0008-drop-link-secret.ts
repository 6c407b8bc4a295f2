/**
 * Frozen: files in the field have this schema. A change is a new migration.
 *
 * The secret that signed interrupt links stood here in clear; their keys are derived from the secrets key now.
 */
export const migration0008 = {
  version: 8,
  sql: `DELETE FROM settings WHERE name = 'links.secret'`,
} as const;
