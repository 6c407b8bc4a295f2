import { HostError } from '@weft/protocol';
import { withStarted } from '../../core/schedules/lifecycle.ts';
import { MOST_OPEN } from '../../core/schedules/schedule.ts';
import type { Caller } from '../../host/host.ts';
import type { Clock } from '../../ports/clock.ts';
import { auditOf } from '../audit/audit-entry.ts';
import { CONTENDED, isWritten, untilWritten } from '../commits/contended-write.ts';
import type { Remember } from '../commits/idempotency.ts';
import type { RunCreator } from '../runs/create-run.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { callerFor, endOf, newRunOf, sourceOf } from './fire.ts';
import { dueAtOf, type ReadSchedule, scheduleWrite } from './schedule-records.ts';

export interface StartNowDependencies {
  readonly read: (caller: Caller, name: string) => Promise<ReadSchedule | undefined>;
  readonly creator: Pick<RunCreator, 'prepare'>;
  readonly newRunId: () => string;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

export type StartNow = (
  caller: Caller,
  name: string,
  remember: Remember<{ readonly runId: string }>,
) => Promise<{ readonly replayed: false; readonly runId: string } | undefined>;

/** Starts a run of a schedule because a person said so: it is no due time, and no policy is asked. */
export function createStartNow({ read, creator, newRunId, clock, random }: StartNowDependencies): StartNow {
  return (caller, name, remember) =>
    untilWritten(async () => {
      const found = await read(caller, name);
      if (found === undefined) return undefined;
      const { schedule, version } = found;
      if (schedule.open.length >= MOST_OPEN) {
        throw new HostError('conflict', `${MOST_OPEN} runs of this schedule are open; let one end first.`);
      }
      const at = clock.now();
      const delivery = randomId(random);
      const { dueAt: _dueAt, ...source } = sourceOf(caller.tenant, schedule, at);
      const run = await creator.prepare(
        callerFor(caller.tenant, { ...schedule, createdBy: caller.principal }),
        newRunOf(schedule),
        { runId: newRunId(), source: { ...source, deliveryId: `manual_${delivery}`, dedupKey: delivery } },
      );
      const { runId } = run;
      const fired = withStarted(schedule, at, { runId, end: endOf(run.status) }, { at, reason: 'manual' });
      const result = await run.commit({
        documents: [scheduleWrite(caller.tenant, fired, { at, dueAt: dueAtOf(fired), replaces: version })],
        audit: [auditOf(caller, { at, action: 'schedule.trigger', target: name })],
        ...remember.answer({ runId }),
      });
      return isWritten(result) ? { replayed: false as const, runId } : CONTENDED;
    });
}
