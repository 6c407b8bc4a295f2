import { HostError } from '@weft/protocol';
import type { Documents, DocumentWrite } from '../../ports/store.ts';
import { type CONTENDED, untilWritten } from '../commits/contended-write.ts';
import { createGate } from '../fairness/gate.ts';

/** How many schedules, or triggers, a tenant has: counted with the write that adds or removes one, so that nothing is listed for it. */
export interface TenantCounter {
  /** Makes attempts until one is written. Those of a tenant follow each other, so that only other processes can come in between. */
  inTurn<Result>(tenant: string, attempt: () => Promise<Result | typeof CONTENDED>): Promise<Result>;
  /** The write that goes along. Throws when there may be no more. */
  added(tenant: string, at: number): Promise<DocumentWrite>;
  removed(tenant: string, at: number): Promise<DocumentWrite>;
}

const COUNTERS = 'counter';
const AT_A_TIME = { inAll: 16, perTenant: 1 };

export function createTenantCounter(
  store: Pick<Documents, 'readDocument'>,
  { id, limit, limitName }: { readonly id: string; readonly limit: number; readonly limitName: string },
): TenantCounter {
  const gate = createGate(AT_A_TIME);

  async function changed(tenant: string, by: number, at: number): Promise<DocumentWrite> {
    const place = { tenant, collection: COUNTERS, scope: '', id };
    const stored = await store.readDocument(place);
    const count = stored === undefined ? 0 : (JSON.parse(stored.body) as number);
    if (by > 0 && count >= limit) {
      const message = `This tenant has ${count} ${id}; the limit ${limitName} is ${limit}. Remove one first.`;
      throw new HostError('conflict', message, { limit, observed: count + 1 });
    }
    const body = String(Math.max(count + by, 0));
    return {
      ...place,
      body,
      at,
      ...(stored === undefined ? { onlyNew: true } : { replaces: stored.version }),
    };
  }

  return {
    inTurn: (tenant, attempt) => gate.pass(tenant, () => untilWritten(attempt)),
    added: (tenant, at) => changed(tenant, 1, at),
    removed: (tenant, at) => changed(tenant, -1, at),
  };
}
