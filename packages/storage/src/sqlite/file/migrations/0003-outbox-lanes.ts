/**
 * Frozen: files in the field have this schema. A change is a new migration.
 *
 * Rows of one lane go out in the order of their rowids, which the index carries along.
 */
export const migration0003 = {
  version: 3,
  sql: `
ALTER TABLE outbox ADD COLUMN lane TEXT;
CREATE INDEX outbox_lanes ON outbox (lane) WHERE lane IS NOT NULL AND next_at IS NOT NULL;
`,
} as const;
