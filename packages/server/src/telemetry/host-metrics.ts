import type { Host, Observer } from '@weft/engine';
import type { Registry } from './registry.ts';

/** The metrics of this process: what waits, what the store takes, and how busy the event loop is. */
export interface HostMetrics
  extends Pick<Observer, 'grouped' | 'decided' | 'delivering' | 'fired' | 'ingested'> {
  /** Brings the gauges up to date. */
  refresh(): Promise<void>;
}

const SIZE_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500];
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const LAG_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300];
const AGE_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 1_800, 3_600];

export function createHostMetrics(registry: Registry, host: Pick<Host, 'stats' | 'operations'>): HostMetrics {
  const { counter, histogram } = registry;
  const conflicts = counter({
    name: 'openwop.run.claim.conflicts',
    help: 'Writes refused because another process holds the run.',
    unit: '{conflict}',
    labels: ['transport', 'tenant_id'],
  });
  const commitUnits = histogram({
    name: 'weft.commit.units',
    help: 'Writes in one group commit.',
    unit: '',
    buckets: SIZE_BUCKETS,
  });
  const commitEvents = histogram({
    name: 'weft.commit.events',
    help: 'Events in one group commit.',
    unit: '',
    buckets: SIZE_BUCKETS,
  });
  const commitDuration = histogram({
    name: 'weft.commit.duration',
    help: 'Time until the store has made a group durable.',
    unit: 's',
    buckets: COMMIT_BUCKETS,
  });
  const inboxLag = histogram({
    name: 'weft.inbox.lag',
    help: 'Time from the acceptance of a command to its decision.',
    unit: 's',
    buckets: LAG_BUCKETS,
  });
  const outboxAge = histogram({
    name: 'weft.outbox.age',
    help: 'How long the oldest delivery of a claim had been due.',
    unit: 's',
    buckets: AGE_BUCKETS,
  });
  const firings = counter({
    name: 'weft.schedule.firings',
    help: 'Due times of schedules that were dealt with.',
    unit: '{firing}',
    labels: ['outcome'],
  });
  const lateness = histogram({
    name: 'weft.schedule.lateness',
    help: 'Time from a due time of a schedule to the start of its run.',
    unit: 's',
    buckets: AGE_BUCKETS,
  });
  const deliveries = counter({
    name: 'weft.trigger.deliveries',
    help: 'Deliveries to webhook triggers.',
    unit: '{delivery}',
    labels: ['outcome'],
  });
  const { fromStats, oldestDue, quarantined } = openGauges(registry);
  return {
    grouped(group) {
      commitUnits.observe(group.units);
      commitEvents.observe(group.events);
      commitDuration.observe(group.ms / 1_000);
      if (group.conflicts > 0) conflicts.add(group.conflicts, 'rest', 'all');
    },
    decided: (lagMs) => inboxLag.observe(lagMs / 1_000),
    delivering: (ageMs) => outboxAge.observe(ageMs / 1_000),
    fired(outcome, lateMs) {
      firings.add(1, outcome);
      if (outcome === 'started' && lateMs !== undefined) lateness.observe(Math.max(lateMs, 0) / 1_000);
    },
    ingested: (outcome) => deliveries.add(1, outcome),
    async refresh() {
      const stats = host.stats();
      const stat = (name: string): number => {
        const value = stats[name];
        return typeof value === 'number' ? value : 0;
      };
      for (const { gauge, labels, value } of fromStats) gauge.set(value(stat), ...labels);
      oldestDue.set((await host.operations.longestWaitMs()) / 1_000);
      quarantined.set(await host.operations.quarantinedRuns());
    },
  };
}

type Stat = (name: string) => number;

function openGauges(registry: Registry) {
  const gauge = (
    options: Parameters<Registry['gauge']>[0],
    value: (stat: Stat) => number,
    labels: readonly string[] = [],
  ) => ({ gauge: registry.gauge(options), value, labels });
  const fromStats = [
    gauge(
      {
        name: 'openwop.run.active',
        help: 'Runs that this process holds in memory.',
        unit: '{run}',
        labels: ['tenant_id'],
      },
      (stat) => stat('live') + stat('loading'),
      ['all'],
    ),
    gauge(
      { name: 'weft.runs.memory', help: 'Memory that the runs in memory take, as estimated.', unit: 'By' },
      (stat) => stat('liveBytes'),
    ),
    gauge(
      {
        name: 'openwop.queue.depth',
        help: 'Runs that wait for room in memory.',
        unit: '{run}',
        labels: ['tenant_id'],
      },
      (stat) => stat('pending'),
      ['all'],
    ),
    gauge(
      { name: 'weft.claim.age', help: 'Time since the claims of this process were renewed.', unit: 's' },
      (stat) => stat('claimAgeMs') / 1_000,
    ),
    gauge({ name: 'weft.commit.waiting', help: 'Writes that wait for the store.', unit: '{write}' }, (stat) =>
      stat('waitingUnits'),
    ),
    gauge({ name: 'weft.commit.waiting.size', help: 'Bytes that wait for the store.', unit: 'By' }, (stat) =>
      stat('waitingBytes'),
    ),
    gauge({ name: 'weft.effects.active', help: 'Effects in flight.', unit: '{effect}' }, (stat) =>
      stat('effectsActive'),
    ),
    gauge({ name: 'weft.effects.queued', help: 'Effects that wait for room.', unit: '{effect}' }, (stat) =>
      stat('effectsQueued'),
    ),
    gauge({ name: 'weft.workers', help: 'Workers connected to this process.', unit: '{worker}' }, (stat) =>
      stat('workersConnected'),
    ),
    gauge({ name: 'weft.tasks.waiting', help: 'Tasks that wait for a worker.', unit: '{task}' }, (stat) =>
      stat('tasksWaiting'),
    ),
    gauge({ name: 'weft.tasks.held', help: 'Tasks that workers have in hand.', unit: '{task}' }, (stat) =>
      stat('tasksHeld'),
    ),
    gauge({ name: 'weft.outbox.sending', help: 'Deliveries in flight.', unit: '{delivery}' }, (stat) =>
      stat('deliveriesSending'),
    ),
    gauge(
      { name: 'weft.outbox.queued', help: 'Deliveries claimed and waiting.', unit: '{delivery}' },
      (stat) => stat('deliveriesQueued'),
    ),
    gauge({ name: 'weft.listeners', help: 'Readers that follow runs.', unit: '{listener}' }, (stat) =>
      stat('listeners'),
    ),
    gauge(
      { name: 'weft.eventloop.delay', help: 'Ninetieth percentile of the event loop’s delay.', unit: 's' },
      (stat) => stat('loopDelayMs') / 1_000,
    ),
    gauge({ name: 'weft.process.memory', help: 'Resident memory of the process.', unit: 'By' }, () =>
      process.memoryUsage.rss(),
    ),
  ];
  const oldestDue = registry.gauge({
    name: 'weft.queue.oldest',
    help: 'How long the run that waits longest for a holder has been due.',
    unit: 's',
  });
  const quarantined = registry.gauge({
    name: 'weft.runs.quarantined',
    help: 'Quarantined runs of the whole store.',
    unit: '{run}',
  });
  return { fromStats, oldestDue, quarantined };
}
