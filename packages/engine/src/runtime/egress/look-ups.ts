import { createFairQueue, type Ticket } from '../fairness/fair-queue.ts';
import type { StopSignal } from '../../model/node-type.ts';
import type { Addresses, Resolve } from './policy.ts';

/**
 * Look-ups of names, shared by tenants in turn: a tenant whose names no one answers for waits for itself.
 *
 * At most `perTenant` look-ups of a tenant and `inAll` of all run at once; the others wait, and their time does not
 *      count yet.
 * A finished look-up (answered, given up, or without a waiting caller) holds no place, whatever the resolver does.
 * A tenant that asks for a name while it is being looked up gets the same answer. No answer is cached: whether an
 *      address may be reached is evaluated for each request.
 */
export interface LookUps {
  find(host: string, tenant: string, signal: StopSignal): Promise<Addresses>;
}

export interface LookUpOptions {
  readonly resolve: Resolve;
  readonly inAll: number;
  readonly perTenant: number;
  readonly timeoutMs: number;
}

export class LookUpTimeout extends Error {
  readonly code = 'resolve_timeout';
}

interface LookUp {
  readonly key: string;
  readonly host: string;
  readonly control: AbortController;
  /** Those who wait for the answer. */
  readonly askers: Set<Asker>;
  ticket: Ticket<LookUp> | undefined;
}

interface Asker {
  resolve(addresses: Addresses): void;
  reject(error: unknown): void;
}

export function createLookUps(options: LookUpOptions): LookUps {
  const queue = createFairQueue<LookUp>({ quota: options.inAll, laneQuota: () => options.perTenant });
  const asked = new Map<string, LookUp>();

  function begin(host: string, tenant: string): LookUp {
    const key = `${tenant} ${host}`;
    const known = asked.get(key);
    if (known !== undefined) return known;
    const lookUp: LookUp = {
      key,
      host,
      control: new AbortController(),
      askers: new Set(),
      ticket: undefined,
    };
    asked.set(key, lookUp);
    lookUp.ticket = queue.push(lookUp, tenant);
    return lookUp;
  }

  function pump(): void {
    for (let next = queue.take(); next !== undefined; next = queue.take()) void work(next.item);
  }

  async function work(lookUp: LookUp): Promise<void> {
    const timer = setTimeout(
      () => end(lookUp, ({ reject }) => reject(new LookUpTimeout())),
      options.timeoutMs,
    );
    try {
      const addresses = await options.resolve(lookUp.host, lookUp.control.signal);
      end(lookUp, ({ resolve }) => resolve(addresses));
    } catch (error) {
      end(lookUp, ({ reject }) => reject(error));
    } finally {
      clearTimeout(timer);
    }
  }

  function end(lookUp: LookUp, tell: (asker: Asker) => void): void {
    if (asked.get(lookUp.key) !== lookUp) return;
    asked.delete(lookUp.key);
    lookUp.ticket?.leave();
    for (const asker of lookUp.askers) tell(asker);
    lookUp.control.abort();
    pump();
  }

  return {
    find(host, tenant, signal) {
      if (signal.aborted) return Promise.reject(aborted());
      const lookUp = begin(host, tenant);
      return new Promise<Addresses>((resolve, reject) => {
        const leave = (): void => {
          lookUp.askers.delete(asker);
          reject(aborted());
          if (lookUp.askers.size === 0) end(lookUp, () => undefined);
        };
        const settled =
          <Value>(settle: (value: Value) => void) =>
          (value: Value): void => {
            signal.removeEventListener('abort', leave);
            settle(value);
          };
        const asker: Asker = { resolve: settled(resolve), reject: settled(reject) };
        lookUp.askers.add(asker);
        signal.addEventListener('abort', leave);
        pump();
      });
    },
  };
}

/** Never shown: the caller aborted the request itself. */
function aborted(): Error {
  return new Error('The look-up was aborted.');
}
