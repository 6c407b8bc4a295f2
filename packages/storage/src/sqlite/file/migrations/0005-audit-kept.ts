/** Frozen: files in the field have this schema. A change is a new migration. Audit entries are written once and stay. */
export const migration0005 = {
  version: 5,
  sql: `
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'audit entries are never changed'); END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'audit entries are never removed'); END;
`,
} as const;
