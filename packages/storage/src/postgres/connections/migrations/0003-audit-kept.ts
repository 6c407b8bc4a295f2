/** Frozen: databases in the field have this schema. A change is a new migration. Audit entries are written once and stay. */
export const migration0003 = {
  version: 3,
  sql: `
CREATE FUNCTION audit_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'audit entries are never changed or removed'; END $$;
CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays()`,
} as const;
