import type { Clock } from '../../ports/clock.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { DocumentUnit, OutboxRow, OutboxUnit } from '../../ports/store.ts';
import type { Committer } from '../commits/committer.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { Attempt } from './delivery.ts';
import { waitAfter } from './retry-schedule.ts';

export interface SettleOptions {
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  /** Divides the waits between attempts; default 1. */
  readonly retryScale?: number | undefined;
  /** What to write before a row is given up. */
  readonly deadLetter: (row: OutboxRow, reason: string) => Promise<DocumentUnit | undefined>;
}

/** Writes down what became of an attempt: the row is done, waits for the next one, or is dead. */
export function createSettle(options: SettleOptions): (row: OutboxRow, attempt: Attempt) => Promise<void> {
  const { committer, clock, random, log, retryScale = 1 } = options;

  async function settle(row: OutboxRow, attempt: Attempt): Promise<void> {
    try {
      switch (attempt.state) {
        case 'delivered':
        case 'withdrawn':
          return await write(row, { settle: [{ id: row.id, state: 'done' }] });
        case 'expanded': {
          const { enqueue, documents } = attempt;
          return await write(row, { settle: [{ id: row.id, state: 'done' }], enqueue, documents });
        }
        case 'aborted':
          return await write(row, { settle: [{ id: row.id, state: 'retry', dueAt: clock.now() }] });
        case 'failed':
          return await retryOrGiveUp(row, attempt.reason);
      }
    } catch (error) {
      log('error', { deliveryId: row.id, ...errorFields(error) }, 'a delivery could not be settled');
    }
  }

  async function retryOrGiveUp(row: OutboxRow, reason: string): Promise<void> {
    const fields = { deliveryId: row.id, topic: row.topic, attempt: row.attempts, reason };
    const delay = waitAfter(row.attempts, Buffer.from(random(4)).readUInt32BE(0) / 2 ** 32);
    if (delay !== undefined) {
      log('info', fields, 'a delivery failed and will be tried again');
      const dueAt = clock.now() + Math.round(delay / retryScale);
      return await write(row, { settle: [{ id: row.id, state: 'retry', dueAt }] });
    }
    log('warn', fields, 'a delivery failed for the last time');
    const letter = await options.deadLetter(row, reason);
    // In one turn, so that both are one transaction: a client that finds the record and asks for another try finds the row dead.
    const recorded = letter === undefined ? undefined : committer.submit(letter);
    const died = { settle: [{ id: row.id, state: 'dead' as const }] };
    await Promise.all([recorded, write(row, { ...died, ...(letter && { tenant: letter.tenant }) })]);
  }

  async function write(row: OutboxRow, what: Omit<OutboxUnit, 'kind' | 'batchId'>): Promise<void> {
    const unit: OutboxUnit = { kind: 'outbox', batchId: randomId(random), ...what };
    const { state } = await committer.submit(unit);
    if (state === 'committed') return;
    log('warn', { deliveryId: row.id, state }, 'a delivery was not settled and will be repeated');
  }

  return settle;
}
