/** How much of something scarce each tenant takes up. */
export interface Loads {
  add(tenant: string, units: number, bytes: number): void;
  /** As it is now and as it changes: for who looks at it at once. */
  all(): Load & { readonly tenants: number };
  of(tenant: string): Load;
  tenants(): (readonly [tenant: string, load: Load])[];
}

export interface Load {
  readonly units: number;
  readonly bytes: number;
}

const NONE: Load = { units: 0, bytes: 0 };

export function createLoads(): Loads {
  const loads = new Map<string, { units: number; bytes: number }>();
  const all = { units: 0, bytes: 0, tenants: 0 };
  return {
    add(tenant, units, bytes) {
      all.units += units;
      all.bytes += bytes;
      const load = loads.get(tenant);
      if (load === undefined) loads.set(tenant, { units, bytes });
      else {
        load.units += units;
        load.bytes += bytes;
        if (load.units === 0 && load.bytes === 0) loads.delete(tenant);
      }
      all.tenants = loads.size;
    },
    all: () => all,
    of: (tenant) => loads.get(tenant) ?? NONE,
    tenants: () => [...loads],
  };
}

/**
 * Whether a tenant has to wait because all together take up more than the limit: only who takes up at least an equal part of
 * it. One that has nothing yet never waits for the others, and all together stay below twice the limit.
 */
export function isOverShare(all: number, own: number, tenants: number, limit: number): boolean {
  return all > limit && own * tenants >= limit;
}
