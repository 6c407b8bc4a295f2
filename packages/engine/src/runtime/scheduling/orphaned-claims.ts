import type { Claimed, Claims } from '../../ports/store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Lease } from './lease.ts';

/**
 * Runs that this process holds in the store and does not know of, because the answer to a claim was lost. As long as the process
 * lives no one else may take them, so it has to find them itself.
 */
export interface OrphanedClaims {
  /** The answer to a claim was lost. */
  suspect(): void;
  /** Looks, if there is reason to. A run that was created here a moment ago is not known yet; what stays unknown is a orphan. */
  adopt(): Promise<void>;
}

export interface OrphanedClaimsOptions {
  readonly store: Claims;
  readonly lease: Pick<Lease, 'holder'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** How long a run must be held and unknown before it is a orphan. */
  readonly unknownForMs: number;
  readonly isKnown: (runId: string) => boolean;
  readonly adopt: (claim: Claimed, holder: string) => Promise<void>;
}

export function createOrphanedClaims(options: OrphanedClaimsOptions): OrphanedClaims {
  let isSuspected = false;
  let unknown = new Map<string, { readonly epoch: number; readonly since: number }>();

  return {
    suspect() {
      isSuspected = true;
    },
    async adopt() {
      const holder = options.lease.holder();
      if (!isSuspected || holder === undefined) return;
      const now = options.clock.monotonic();
      const seen: typeof unknown = new Map();
      for (const claim of await options.store.heldBy(holder)) {
        const { runId, epoch } = claim;
        if (options.isKnown(runId)) continue;
        const before = unknown.get(runId);
        const since = before?.epoch === epoch ? before.since : now;
        if (now - since < options.unknownForMs) seen.set(runId, { epoch, since });
        else await options.adopt(claim, holder);
      }
      unknown = seen;
      isSuspected = seen.size > 0;
    },
  };
}
