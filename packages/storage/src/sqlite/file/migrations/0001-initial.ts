/**
 * Frozen: files in the field have this schema. A change is a new migration.
 *
 * - `words` is a dictionary: strings that repeat (tenants, event types, node ids, the unchanging part of creation records) are
 *   stored once, and everywhere else as a small number. Columns that may outgrow it hold number or text.
 * - `runs.id` is the run id as 16 bytes; everything else refers to the short `rid`. Times on a run's row and on its events count
 *   from `created_at`. `due_at` is what the scheduler goes by: `wake_at`, or 0 while a command waits, or NULL when held forever.
 * - Statuses below 6 are open (codec.ts); the partial indexes hold open runs only, so finished runs cost them nothing.
 */
export const migration0001 = {
  version: 1,
  sql: `
PRAGMA application_id = 1464157780;

CREATE TABLE words (
  id INTEGER PRIMARY KEY,
  word TEXT NOT NULL UNIQUE
);

CREATE TABLE runs (
  rid INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  tenant INTEGER NOT NULL,
  workflow INTEGER NOT NULL,
  origin NOT NULL,
  principal,
  created_at INTEGER NOT NULL,
  status INTEGER NOT NULL,
  next_seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  holder INTEGER,
  due_at INTEGER,
  wake_at INTEGER,
  inbox INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  node,
  error,
  last_batch BLOB NOT NULL,
  scope TEXT,
  more TEXT
);
CREATE INDEX runs_listed ON runs (tenant, created_at);
CREATE INDEX runs_open ON runs (holder, due_at) WHERE status < 6;
CREATE INDEX runs_scoped ON runs (tenant, scope) WHERE scope IS NOT NULL AND status < 6;

CREATE TABLE run_tags (
  tenant INTEGER NOT NULL,
  tag TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  rid INTEGER NOT NULL,
  PRIMARY KEY (tenant, tag, created_at, rid)
) WITHOUT ROWID;

CREATE TABLE events (
  rid INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  type NOT NULL,
  at INTEGER NOT NULL,
  node,
  cause INTEGER,
  payload TEXT NOT NULL,
  overlay TEXT,
  PRIMARY KEY (rid, seq)
) WITHOUT ROWID;

CREATE TABLE checkpoints (
  rid INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  fold_version INTEGER NOT NULL,
  state TEXT NOT NULL
);

CREATE TABLE commands (
  ord INTEGER PRIMARY KEY,
  rid INTEGER NOT NULL,
  id TEXT NOT NULL,
  accepted_at INTEGER NOT NULL,
  body TEXT NOT NULL,
  verdict TEXT,
  UNIQUE (rid, id)
);
CREATE INDEX commands_waiting ON commands (rid) WHERE verdict IS NULL;

CREATE TABLE idempotency (
  ord INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  key_hash NOT NULL,
  request_digest NOT NULL,
  expires_at INTEGER NOT NULL,
  status INTEGER,
  answer TEXT NOT NULL,
  UNIQUE (key_hash, tenant, operation)
);
CREATE INDEX idempotency_expiring ON idempotency (expires_at);

CREATE TABLE workflows (
  ord INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  version TEXT NOT NULL,
  digest TEXT NOT NULL,
  registered_at INTEGER NOT NULL,
  UNIQUE (tenant, id, version)
);

CREATE TABLE definitions (
  digest TEXT PRIMARY KEY,
  body TEXT NOT NULL
);

CREATE TABLE api_keys (
  ord INTEGER PRIMARY KEY,
  key_id TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  body TEXT NOT NULL,
  revoked_at INTEGER
);
CREATE INDEX api_keys_listed ON api_keys (tenant);

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE outbox (
  id TEXT PRIMARY KEY,
  rid INTEGER NOT NULL,
  topic TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  next_at INTEGER,
  attempts INTEGER NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX outbox_due ON outbox (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  details TEXT,
  batch BLOB
);
CREATE INDEX audit_batches ON audit (batch) WHERE batch IS NOT NULL;
`,
} as const;
