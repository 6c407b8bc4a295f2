import type { IdempotencyRecord } from '@weft/engine';
import { digestBytes, digestText } from '../runs/codec.ts';
import type { Connection } from '../file/connection.ts';

type Key = Pick<IdempotencyRecord, 'tenant' | 'operation' | 'keyHash'>;

export interface Idempotency {
  /** The record of this key, unless it has expired. */
  read(key: Key): IdempotencyRecord | undefined;
  put(record: IdempotencyRecord): void;
}

interface Row {
  readonly request_digest: Uint8Array | string;
  readonly expires_at: number;
  /** NULL: the answer names the command whose result decides. */
  readonly status: number | null;
  readonly answer: string;
}

export function prepareIdempotency({ db, strings, clock }: Connection): Idempotency {
  // The last condition restates isLive.
  const find = db.prepare<Row>(
    `SELECT request_digest, expires_at, status, answer FROM idempotency
     WHERE key_hash = ? AND tenant = ? AND operation = ? AND expires_at > ?`,
  );
  const replace = db.prepare(
    `INSERT OR REPLACE INTO idempotency (tenant, operation, key_hash, request_digest, expires_at, status, answer)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );

  return {
    read({ tenant, operation, keyHash }) {
      const [tenantNumber, operationNumber] = [strings.find(tenant), strings.find(operation)];
      if (tenantNumber === undefined || operationNumber === undefined) return undefined;
      const row = find.get(digestBytes(keyHash), tenantNumber, operationNumber, clock());
      return row && recordFrom({ tenant, operation, keyHash }, row);
    },
    put({ tenant, operation, keyHash, requestDigest, expiresAt, response }) {
      const [status, answer] =
        'status' in response ? [response.status, response.body] : [null, JSON.stringify(response)];
      const key = [strings.numberOf(tenant), strings.numberOf(operation), digestBytes(keyHash)];
      replace.run(...key, digestBytes(requestDigest), expiresAt, status, answer);
    },
  };
}

function recordFrom(key: Key, row: Row): IdempotencyRecord {
  return {
    ...key,
    requestDigest: digestText(row.request_digest),
    expiresAt: row.expires_at,
    response: row.status === null ? JSON.parse(row.answer) : { status: row.status, body: row.answer },
  };
}
