import type { Caller, Retention, RetentionOperations } from '../../host/host.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DocumentPlace, Store } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';

/** How long each tenant keeps its runs: what it was set to, else the host's default. */
export interface RetentionSettings {
  readonly operations: Pick<RetentionOperations, 'retention' | 'setRetention' | 'resetRetention'>;
  /** Of the tenants for which it was set; null: for ever. */
  ofTenants(): Promise<ReadonlyMap<string, number | null>>;
}

export interface RetentionSettingsDependencies {
  readonly store: Pick<Store, 'readDocument' | 'listDocuments'>;
  readonly committer: Pick<Committer, 'submit'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: Pick<HostLimits, 'retentionMs'>;
}

const COLLECTION = 'retention';
/** No tenant has an empty name, so what stands under it is the host's own. */
const HOST_TENANT = '';
const PAGE = 100;

export function createRetentionSettings(dependencies: RetentionSettingsDependencies): RetentionSettings {
  const { store, committer, clock, random, limits } = dependencies;

  function byDefault(tenant: string): Retention {
    return { tenant, keepMs: limits.retentionMs === 0 ? null : limits.retentionMs, isDefault: true };
  }

  async function write(caller: Caller, tenant: string, body: string | undefined): Promise<void> {
    const at = clock.now();
    const action = body === undefined ? 'retention.reset' : 'retention.set';
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(random),
      ...placeOf(tenant),
      ...(body !== undefined && { body }),
      at,
      audit: [
        auditOf(caller, {
          at,
          action,
          target: tenant,
          tenant,
          ...(body !== undefined && { details: JSON.parse(body) as { keepMs: number | null } }),
        }),
      ],
    });
    if (result.state !== 'committed') throw writeFailure(result);
  }

  async function ofTenants(): Promise<Map<string, number | null>> {
    const found = new Map<string, number | null>();
    let cursor: string | undefined;
    do {
      const page = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const listed = await store.listDocuments(HOST_TENANT, COLLECTION, '', page);
      for (const { id, body } of listed.rows) found.set(id, retentionFrom(id, body).keepMs);
      cursor = listed.nextCursor;
    } while (cursor !== undefined);
    return found;
  }

  return {
    ofTenants,
    operations: {
      async retention(_caller, tenant) {
        const document = await store.readDocument(placeOf(tenant));
        return document === undefined ? byDefault(tenant) : retentionFrom(tenant, document.body);
      },
      async setRetention(caller, tenant, keepMs) {
        await write(caller, tenant, JSON.stringify({ keepMs }));
        return { tenant, keepMs, isDefault: false };
      },
      async resetRetention(caller, tenant) {
        await write(caller, tenant, undefined);
        return byDefault(tenant);
      },
    },
  };
}

function placeOf(tenant: string): DocumentPlace {
  return { tenant: HOST_TENANT, collection: COLLECTION, scope: '', id: tenant };
}

function retentionFrom(tenant: string, body: string): Retention {
  const { keepMs } = JSON.parse(body) as { keepMs: number | null };
  return { tenant, keepMs, isDefault: false };
}
