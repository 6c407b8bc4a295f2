import { createFairQueue } from './fair-queue.ts';

/** Lets a number of works pass at the same time, tenants in turn: what each of them holds in memory is held that often. */
export interface Gate {
  pass<Result>(tenant: string, work: () => Promise<Result>): Promise<Result>;
}

export interface GateOptions {
  readonly inAll: number;
  readonly perTenant: number;
}

export function createGate({ inAll, perTenant }: GateOptions): Gate {
  const waiting = createFairQueue<() => void>({ quota: inAll, laneQuota: () => perTenant });

  function open(): void {
    for (let next = waiting.take(); next !== undefined; next = waiting.take()) next.item();
  }

  return {
    async pass(tenant, work) {
      let enter: () => void = () => undefined;
      const entered = new Promise<void>((resolve) => {
        enter = resolve;
      });
      const place = waiting.push(enter, tenant);
      open();
      await entered;
      try {
        return await work();
      } finally {
        place.leave();
        open();
      }
    },
  };
}
