/**
 * Frozen: files in the field have this schema. A change is a new migration.
 *
 * - `documents` are small records of a tenant; one that is written over gets a new `ord`, so `ord` is the order of writing.
 *   `batch` names the write that made the row, for the question whether it was committed.
 * - `blobs` are the pieces of large values. `run` is the run's 16 bytes, not its `rid`: a piece may be there before its run is.
 *   Both are tables with a rowid, because bodies and pieces are too big to be carried along in the tree of a key.
 */
export const migration0002 = {
  version: 2,
  sql: `
CREATE TABLE documents (
  ord INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  collection INTEGER NOT NULL,
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  expires_at INTEGER,
  batch BLOB NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (tenant, collection, scope, id)
);
CREATE INDEX documents_listed ON documents (tenant, collection, scope, at);
CREATE INDEX documents_expiring ON documents (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE blobs (
  ord INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  run NOT NULL,
  id TEXT NOT NULL,
  piece INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (run, id, piece, tenant)
);
`,
} as const;
