import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { Documents, DueDocument } from '../../ports/store.ts';
import type { OverloadGauge } from '../fairness/overload.ts';
import { createDueScan, type DueScan, type Look } from '../scheduling/due-scan.ts';
import type { Fire } from './fire.ts';
import { DELIVERY_SCOPE, DUE } from './schedule-place.ts';

/**
 * Looks for what is due, schedules and deliveries that are tried again, in every process of a cluster: the store gives each to one of them at a time, and what that one
 * does not finish to another when its lease is over. When they are due is judged by the store's clock.
 */
export interface Scheduler extends Pick<DueScan, 'start' | 'stop' | 'wake'> {
  counts(): { readonly due: number; readonly failed: number };
}

export interface SchedulerDependencies {
  readonly store: Pick<Documents, 'claimDueDocuments'>;
  readonly fire: Fire;
  /** Tries a delivery again that could not be served. */
  readonly redeliver: (row: DueDocument, now: number) => Promise<void>;
  readonly overload: Pick<OverloadGauge, 'check'>;
  readonly clock: Clock;
  readonly limits: HostLimits;
  readonly log: Log;
}

/** Fired at the same time: their writes go to the store as few groups. */
const PAGE = 64;

export function createScheduler(dependencies: SchedulerDependencies): Scheduler {
  const { store, fire, redeliver, clock, limits, log } = dependencies;
  let due = 0;
  let failed = 0;

  async function look(): Promise<Look> {
    try {
      const found = await store.claimDueDocuments(DUE, PAGE, limits.scheduleLeaseMs);
      due = found.rows.length;
      await Promise.all(
        found.rows.map(async (row) => {
          // A tenant that is over its share is looked at again when the lease is over.
          if (dependencies.overload.check(row.tenant) !== undefined) return;
          try {
            await (row.scope === DELIVERY_SCOPE ? redeliver : fire)(row, found.now);
          } catch (error) {
            failed += 1;
            log(
              'error',
              { tenant: row.tenant, due: row.id, ...errorFields(error) },
              'what is due could not be started',
            );
          }
        }),
      );
      const waitMs = found.nextAt === undefined ? undefined : found.nextAt - found.now;
      // What was fired may be due again; the next look finds it.
      const nextAt = found.rows.length > 0 ? clock.now() : waitMs && clock.now() + waitMs;
      return { claimed: found.rows.length, nextAt };
    } catch (error) {
      log('warn', errorFields(error), 'due schedules could not be looked for');
      return { claimed: 0, nextAt: undefined };
    }
  }

  const scan = createDueScan({ clock, pollMs: limits.pollMs, look });
  return { start: scan.start, stop: scan.stop, wake: scan.wake, counts: () => ({ due, failed }) };
}
