import type { Database } from './driver.ts';
import { StoreTooNewError } from './errors.ts';
import { migration0001 } from './migrations/0001-initial.ts';
import { migration0002 } from './migrations/0002-documents-and-blobs.ts';
import { migration0003 } from './migrations/0003-outbox-lanes.ts';
import { migration0004 } from './migrations/0004-keeping.ts';
import { migration0005 } from './migrations/0005-audit-kept.ts';
import { migration0006 } from './migrations/0006-integrity.ts';
import { migration0007 } from './migrations/0007-quarantine.ts';
import { migration0008 } from './migrations/0008-drop-link-secret.ts';
import { migration0009 } from './migrations/0009-tenant-turns.ts';
import { migration0010 } from './migrations/0010-tasks.ts';
import { migration0011 } from './migrations/0011-due-documents.ts';
import { migration0012 } from './migrations/0012-run-filters.ts';
import { migration0013 } from './migrations/0013-costs.ts';

/** In order; each is frozen once released. */
const MIGRATIONS = [
  migration0001,
  migration0002,
  migration0003,
  migration0004,
  migration0005,
  migration0006,
  migration0007,
  migration0008,
  migration0009,
  migration0010,
  migration0011,
  migration0012,
  migration0013,
] as const;

export const SCHEMA_VERSION = Math.max(...MIGRATIONS.map(({ version }) => version));

/** Brings the file to this program's schema, one transaction per step, so that a crash leaves a whole version. */
export function migrate(db: Database, path: string): void {
  const found = schemaVersion(db);
  if (found > SCHEMA_VERSION) throw new StoreTooNewError(path, found, SCHEMA_VERSION);
  for (const { version, sql } of MIGRATIONS) {
    if (version <= found) continue;
    db.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${version}; COMMIT`);
  }
}

export function schemaVersion(db: Database): number {
  return db.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0;
}
