import { endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type { Idempotent } from '../runs/runs.ts';
import type { Transport } from '../requests/transport.ts';

export interface Retention {
  readonly tenant: string;
  /** After the end of a run; null = for ever. */
  readonly keepForSeconds: number | null;
  /** The host's own, because the tenant has none. */
  readonly isDefault: boolean;
}

/** A copy of the host's store, not yet read. */
export interface BackupContent {
  readonly size: number | undefined;
  readonly bytes: ReadableStream<Uint8Array>;
}

/** For administrators: how long runs are kept, how they go, and the copy of everything. */
export interface Operations {
  /** Removes a run that has ended, with all that belongs to it. */
  purge(runId: string, options?: Idempotent): ApiPromise<void>;
  /** Erases what is kept behind the masks of a run that has ended; its log stays as it is. */
  erase(runId: string, options?: Idempotent): ApiPromise<void>;
  retention(tenant?: string): ApiPromise<Retention>;
  setRetention(keepForSeconds: number | null, tenant?: string): ApiPromise<Retention>;
  /** Back to the host's default. */
  resetRetention(tenant?: string): ApiPromise<Retention>;
  backup(options?: { readonly signal?: AbortSignal | undefined }): Promise<BackupContent>;
}

export function createOperations(transport: Transport): Operations {
  return {
    purge: (runId, options = {}) =>
      transport.json(endpointOf('removeRun', { runId }), {
        headers: { 'idempotency-key': options.idempotencyKey },
      }),
    erase: (runId, options = {}) =>
      transport.json(endpointOf('eraseRun', { runId }), {
        headers: { 'idempotency-key': options.idempotencyKey },
      }),
    retention: (tenant) => transport.json(endpointOf('getRetention'), { query: { tenant } }),
    setRetention: (keepForSeconds, tenant) =>
      transport.json(endpointOf('setRetention'), { query: { tenant }, body: { keepForSeconds } }),
    resetRetention: (tenant) => transport.json(endpointOf('resetRetention'), { query: { tenant } }),
    async backup({ signal } = {}) {
      // The copy is made before it is sent, and that takes as long as the store is large.
      const call = { headers: { accept: '*/*' }, signal, timeoutMs: 0 };
      const response = await transport.open(endpointOf('backUp'), call);
      const length = response.headers.get('content-length');
      return {
        size: length === null ? undefined : Number(length),
        bytes: response.body ?? new Blob([]).stream(),
      };
    },
  };
}
