import type { WriteUnit } from '@weft/engine';
import { runIdBytes } from '../runs/codec.ts';
import type { Connection } from '../file/connection.ts';
import type { SqlValue } from '../file/driver.ts';

type BlobUnit = Extract<WriteUnit, { kind: 'blob' }>;

export interface Blobs {
  read(tenant: string, runId: string, blobId: string, index: number): Uint8Array | undefined;
  /** Inside the group's transaction. A piece that is there stays as it is. */
  write(unit: BlobUnit): void;
  /** A piece is written once, so these bytes are there, no matter which writer wrote them. */
  wasCommitted(unit: BlobUnit): boolean;
}

export function prepareBlobs({ db, strings }: Connection): Blobs {
  const find = db.prepare<{ bytes: Uint8Array }>(
    'SELECT bytes FROM blobs WHERE run = ? AND id = ? AND piece = ? AND tenant = ?',
  );
  const findSame = db.prepare(
    'SELECT 1 FROM blobs WHERE run = ? AND id = ? AND piece = ? AND tenant = ? AND bytes = ?',
  );
  const insert = db.prepare(
    'INSERT INTO blobs (run, id, piece, tenant, bytes) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );

  return {
    read(tenant, runId, blobId, index) {
      const tenantNumber = strings.find(tenant);
      if (tenantNumber === undefined) return undefined;
      return find.get(runKey(runId), blobId, index, tenantNumber)?.bytes;
    },
    write({ tenant, runId, blobId, index, bytes }) {
      insert.run(runKey(runId), blobId, index, strings.numberOf(tenant), bytes);
    },
    wasCommitted({ tenant, runId, blobId, index, bytes }) {
      const tenantNumber = strings.find(tenant);
      if (tenantNumber === undefined) return false;
      return findSame.get(runKey(runId), blobId, index, tenantNumber, bytes) !== undefined;
    },
  };
}

function runKey(runId: string): SqlValue {
  return runIdBytes(runId) ?? runId;
}
