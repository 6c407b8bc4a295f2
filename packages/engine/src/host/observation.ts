import type { CommittedGroup, FiringOutcome, IngestOutcome, Observer, TelemetrySource } from './host.ts';
import { decorateStore } from '../ports/decorate-store.ts';
import type { Store, WriteResult, WriteUnit } from '../ports/store.ts';
import type { Clock } from '../ports/clock.ts';
import type { Feed } from '../runtime/streams/feed.ts';
import { errorFields, type Log } from '../ports/log.ts';

/**
 * Lets telemetry look on. The store and the feed that the rest of the runtime uses pass through here; nothing else knows
 * that someone is looking. Without an observer each of them costs one comparison more.
 *
 * 1. Observers hear of facts only after they are durable.
 * 2. An observer that throws is logged, and changes nothing for the run.
 */
export interface Observation extends Pick<TelemetrySource, 'observe'> {
  readonly store: Store;
  /** The feed as actors see it: what they publish also goes to the observers. */
  watching(feed: Feed): Feed;
  /** A command has its result. */
  decided(commandId: string): void;
  /** Something was delivered to a trigger. */
  ingested(outcome: IngestOutcome): void;
  /** A due time of a schedule was dealt with. */
  fired(outcome: FiringOutcome, lateMs: number | undefined): void;
  /** Milliseconds since the store last renewed the claims of this process; undefined before the first time. */
  claimAgeMs(): number | undefined;
}

/** Commands seen and not yet decided; older ones are forgotten first. */
const MAX_UNDECIDED = 10_000;

export function createObservation(inner: Store, clock: Clock, log: Log): Observation {
  let observers: readonly Observer[] = [];
  let renewedAt: number | undefined;
  const acceptedAt = new Map<string, number>();

  function tell(notify: (observer: Observer) => void): void {
    for (const observer of observers) {
      try {
        notify(observer);
      } catch (error) {
        log('error', errorFields(error), 'an observer failed');
      }
    }
  }

  async function commit(units: readonly WriteUnit[]): Promise<readonly WriteResult[]> {
    if (observers.length === 0) return inner.commit(units);
    const askedAt = clock.monotonic();
    const results = await inner.commit(units);
    const ms = clock.monotonic() - askedAt;
    tell((observer) => observer.grouped(groupOf(units, results, ms)));
    for (const [index, unit] of units.entries()) {
      if (unit.kind !== 'run' || unit.create === undefined) continue;
      if (results[index]?.state !== 'committed' || unit.create.record.imported !== undefined) continue;
      const { record } = unit.create;
      tell((observer) => observer.committed(record, unit.events, true));
    }
    return results;
  }

  function note(commandId: string, at: number): void {
    if (acceptedAt.has(commandId)) return;
    acceptedAt.set(commandId, at);
    if (acceptedAt.size <= MAX_UNDECIDED) return;
    for (const oldest of acceptedAt.keys()) {
      acceptedAt.delete(oldest);
      return;
    }
  }

  return {
    store: decorateStore(inner, {
      commit,
      async readInbox(runId) {
        const commands = await inner.readInbox(runId);
        if (observers.length > 0) for (const command of commands) note(command.commandId, command.acceptedAt);
        return commands;
      },
      async claimOutbox(...asked) {
        const rows = await inner.claimOutbox(...asked);
        if (observers.length > 0 && rows.length > 0) {
          const oldest = rows.reduce((due, row) => Math.min(due, row.dueAt), Number.POSITIVE_INFINITY);
          const ageMs = Math.max(clock.now() - oldest, 0);
          tell((observer) => observer.delivering(ageMs));
        }
        return rows;
      },
      async heartbeat(holder, ttlMs, about) {
        await inner.heartbeat(holder, ttlMs, about);
        renewedAt = clock.monotonic();
      },
    }),
    watching: (feed) => ({
      ...feed,
      publish(record, events) {
        feed.publish(record, events);
        if (observers.length > 0) tell((observer) => observer.committed(record, events, false));
      },
    }),
    decided(commandId) {
      const at = acceptedAt.get(commandId);
      if (at === undefined) return;
      acceptedAt.delete(commandId);
      const lagMs = Math.max(clock.now() - at, 0);
      tell((observer) => observer.decided(lagMs));
    },
    ingested: (outcome) => tell((observer) => observer.ingested(outcome)),
    fired: (outcome, lateMs) => tell((observer) => observer.fired(outcome, lateMs)),
    claimAgeMs: () => (renewedAt === undefined ? undefined : clock.monotonic() - renewedAt),
    observe(observer) {
      observers = [...observers, observer];
      return () => {
        observers = observers.filter((other) => other !== observer);
      };
    },
  };
}

function groupOf(units: readonly WriteUnit[], results: readonly WriteResult[], ms: number): CommittedGroup {
  let events = 0;
  for (const unit of units) if (unit.kind === 'run') events += unit.events.length;
  let conflicts = 0;
  for (const result of results) if (isConflict(result)) conflicts += 1;
  return { units: units.length, events, ms, conflicts };
}

function isConflict(result: WriteResult): boolean {
  if (result.state !== 'refused') return false;
  return result.reason === 'stale_epoch' || result.reason === 'sequence_conflict';
}
