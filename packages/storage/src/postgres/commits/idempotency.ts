import type { IdempotencyRecord } from '@weft/engine';

export interface StoredIdempotency {
  readonly tenant: string;
  readonly operation: string;
  readonly key_hash: string;
  readonly request_digest: string;
  readonly expires_at: number;
  /** NULL: the answer names the command whose result decides. */
  readonly status: number | null;
  readonly answer: string;
}

export function idempotencyFrom(row: StoredIdempotency): IdempotencyRecord {
  return {
    tenant: row.tenant,
    operation: row.operation,
    keyHash: row.key_hash,
    requestDigest: row.request_digest,
    expiresAt: row.expires_at,
    response: row.status === null ? JSON.parse(row.answer) : { status: row.status, body: row.answer },
  };
}
