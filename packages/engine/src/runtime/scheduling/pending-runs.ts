import { createLoads, type Loads } from '../fairness/loads.ts';

/** Runs that were created here and that no one has taken yet. */
export interface PendingRuns {
  add(runId: string, tenant: string): void;
  delete(runId: string): void;
  clear(): void;
  readonly loads: Pick<Loads, 'all' | 'of'>;
}

export function createPendingRuns(): PendingRuns {
  const tenants = new Map<string, string>();
  const loads = createLoads();

  function remove(runId: string): void {
    const tenant = tenants.get(runId);
    if (tenant === undefined) return;
    tenants.delete(runId);
    loads.add(tenant, -1, 0);
  }

  return {
    loads,
    add(runId, tenant) {
      if (tenants.has(runId)) return;
      tenants.set(runId, tenant);
      loads.add(tenant, 1, 0);
    },
    delete: remove,
    clear() {
      for (const runId of tenants.keys()) remove(runId);
    },
  };
}
