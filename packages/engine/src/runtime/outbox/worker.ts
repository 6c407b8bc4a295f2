import type { Outbox, OutboxRow } from '../../ports/store.ts';
import { wait } from '../../ports/clock.ts';
import { randomId } from '../runs/ids.ts';
import type { HostLimits } from '../../host/limits.ts';
import { errorFields } from '../../ports/log.ts';
import type { Attempt, Deliver } from './delivery.ts';
import { createSettle, type SettleOptions } from './settle.ts';

/**
 * Delivers outbox rows to the outside. A row goes
 *
 *   waiting in the store ──claimed──► queued ──room for its topic──► sending ──► done | to be tried again | dead
 *
 * O-1. A row is deleted only after its receiver has answered with success, so a crash in between sends it again, unchanged.
 * O-2. Rows of one lane leave the store one at a time and in order; that is the store's promise. The next one comes when the
 *      one before is settled: delivered, withdrawn or dead.
 * O-3. A topic has a bounded number of running requests. At the bound, none of its rows is claimed, so that a slow receiver
 *      fills neither the queue nor the time of the others.
 * O-4. Nothing is sent unless the lease on its row outlasts the attempt, checked when it begins and in the turn in which its
 *      bytes leave. A failure past the lease is not recorded: the next lease holder of the row does that.
 * O-5. The row of a failed attempt waits longer each time; after the last attempt it is dead, and its lane continues.
 */
export interface OutboxWorker {
  start(): void;
  /** Claims nothing more; what is running has `graceMs` to end. What did not is left to be sent again. */
  stop(graceMs: number): Promise<void>;
  /** There may be something due. */
  wake(): void;
  /** `sending` counts until the outcome is written down. */
  counts(): { readonly sending: number; readonly queued: number };
}

export interface OutboxWorkerOptions extends SettleOptions {
  readonly store: Outbox;
  readonly limits: Pick<
    HostLimits,
    'pollMs' | 'deliveryTimeoutMs' | 'deliveryLeaseMs' | 'deliveryConcurrency' | 'deliveriesPerTarget'
  >;
  readonly deliver: Deliver;
}

/** Small, so that one receiver with many rows cannot take a whole claim of many. */
const CLAIMED_AT_ONCE = 16;
/** Rows held in memory in addition to those being sent. */
const MAX_QUEUED = 1_024;
const STOP_TICK_MS = 5;

interface Held {
  readonly row: OutboxRow;
  /** By the monotonic clock, from before it was asked for: the store's own end of it can only be later. */
  readonly leaseEnds: number;
}

interface Target {
  sending: number;
  readonly queue: Held[];
}

export function createOutboxWorker(options: OutboxWorkerOptions): OutboxWorker {
  const { store, committer, clock, random, log, limits } = options;
  const settle = createSettle(options);
  const targets = new Map<string, Target>();
  const underWay = new Set<AbortController>();
  let queued = 0;
  let running = false;
  let scanning = false;
  let scanAgain = false;
  let settling = 0;
  let timer: NodeJS.Timeout | undefined;

  function wake(): void {
    if (!running) return;
    if (scanning) {
      scanAgain = true;
      return;
    }
    scanning = true;
    clearTimeout(timer);
    scan()
      .catch((error: unknown) => log('warn', errorFields(error), 'looking for due deliveries failed'))
      .finally(() => {
        scanning = false;
        if (!running) return;
        timer = setTimeout(wake, limits.pollMs);
        timer.unref();
      });
  }

  async function scan(): Promise<void> {
    do {
      scanAgain = false;
      await claimWhatIsDue();
    } while (scanAgain && running);
  }

  async function claimWhatIsDue(): Promise<void> {
    while (running && underWay.size < limits.deliveryConcurrency && queued < MAX_QUEUED) {
      const leaseEnds = clock.monotonic() + limits.deliveryLeaseMs;
      const rows = await store.claimOutbox(CLAIMED_AT_ONCE, limits.deliveryLeaseMs, busyTopics());
      for (const row of rows) enqueue({ row, leaseEnds });
      startWhatMay();
      if (rows.length < CLAIMED_AT_ONCE) return;
    }
  }

  function busyTopics(): string[] {
    return [...targets]
      .filter(([, { sending, queue }]) => sending + queue.length >= limits.deliveriesPerTarget)
      .map(([topic]) => topic);
  }

  function enqueue(held: Held): void {
    const { topic } = held.row;
    const target = targets.get(topic) ?? { sending: 0, queue: [] };
    targets.set(topic, target);
    target.queue.push(held);
    queued += 1;
  }

  /** Round robin over targets, so that no target takes all the room. */
  function startWhatMay(): void {
    for (let started = true; started && running; ) {
      started = false;
      for (const [topic, target] of [...targets]) {
        if (underWay.size >= limits.deliveryConcurrency) return;
        if (target.sending >= limits.deliveriesPerTarget) continue;
        const held = target.queue.shift();
        if (held === undefined) continue;
        queued -= 1;
        started = true;
        targets.delete(topic);
        targets.set(topic, target);
        // Otherwise its lease expires, and the next claimer sends it.
        if (isLeft(held, 2 * limits.deliveryTimeoutMs)) void send(held, target);
        else forgetIdle(topic, target);
      }
    }
  }

  function isLeft({ leaseEnds }: Held, ms: number): boolean {
    return clock.monotonic() < leaseEnds - ms;
  }

  function forgetIdle(topic: string, target: Target): void {
    if (target.sending === 0 && target.queue.length === 0) targets.delete(topic);
  }

  async function send(held: Held, target: Target): Promise<void> {
    const { row } = held;
    const controller = new AbortController();
    underWay.add(controller);
    target.sending += 1;
    settling += 1;
    const attempt = await attemptOf(held, controller);
    underWay.delete(controller);
    target.sending -= 1;
    forgetIdle(row.topic, target);
    startWhatMay();
    if (attempt.state !== 'failed' || isLeft(held, 0)) await settle(row, attempt);
    settling -= 1;
    wake();
  }

  async function attemptOf(held: Held, controller: AbortController): Promise<Attempt> {
    const { row } = held;
    let timedOut = false;
    const timeout = setTimeout(() => {
      timedOut = true;
      controller.abort();
    }, limits.deliveryTimeoutMs);
    timeout.unref();
    try {
      const { signal } = controller;
      const mayLeave = (): boolean => isLeft(held, limits.deliveryTimeoutMs);
      const cut = new Promise<Attempt>((resolve) => {
        signal.addEventListener('abort', () => resolve({ state: 'aborted' }), { once: true });
      });
      const attempt = await Promise.race([options.deliver(row, signal, mayLeave), cut]);
      return attempt.state === 'aborted' && timedOut ? { state: 'failed', reason: 'timeout' } : attempt;
    } catch (error) {
      log('error', { deliveryId: row.id, ...errorFields(error) }, 'a delivery could not be prepared');
      return { state: 'failed', reason: 'host_error' };
    } finally {
      clearTimeout(timeout);
    }
  }

  /** Rows that no one will send here go back at once, so that another process need not wait for the lease. */
  async function releaseClaim(): Promise<void> {
    const rows = [...targets.values()].flatMap(({ queue }) => queue.splice(0));
    queued = 0;
    if (rows.length === 0) return;
    await committer.submit({
      kind: 'outbox',
      batchId: randomId(random),
      settle: rows.map(({ row }) => ({ id: row.id, state: 'retry', dueAt: row.dueAt })),
    });
  }

  return {
    wake,
    start() {
      running = true;
      wake();
    },
    async stop(graceMs) {
      running = false;
      clearTimeout(timer);
      const until = clock.monotonic() + graceMs;
      while ((scanning || underWay.size > 0) && clock.monotonic() < until) await wait(STOP_TICK_MS);
      for (const controller of underWay) controller.abort();
      while (scanning || settling > 0) await wait(STOP_TICK_MS);
      await releaseClaim();
    },
    counts: () => ({ sending: settling, queued }),
  };
}
