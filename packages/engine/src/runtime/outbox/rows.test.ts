import { describe, expect, it } from 'vitest';
import type { CreationRecord } from '../../model/run-state.ts';
import { event, recordOf } from '../../store-contract/fixtures.ts';
import { createOutboxRows } from './rows.ts';
import type { Subscription } from './subscriptions.ts';

const subscription = (webhookId: string, more: Partial<Subscription> = {}): Subscription => ({
  webhookId,
  url: 'https://a.example.org/',
  events: ['*'],
  tags: [],
  secret: { plain: 'x' },
  secretFingerprint: '00000000',
  createdAt: 0,
  createdBy: 'ada',
  ...more,
});
const rowsWith = (...known: Subscription[]) =>
  createOutboxRows({
    subscriptions: { of: (tenant) => (tenant === 'acme' ? known : []) },
    hasPeers: false,
    tellsTasks: true,
  });
const record = (more: Partial<CreationRecord> = {}): CreationRecord => recordOf('run-1', more);
const log = [event(0, 'run.started'), event(1, 'interrupt.requested'), event(2, 'run.completed')];

describe('the rows of a write', () => {
  it('are none without a callbackUrl and without webhooks (O-6)', () => {
    expect(rowsWith()(record(), log)).toEqual([]);
    expect(rowsWith(subscription('w'))(record({ tenant: 'other' }), log)).toEqual([]);
  });

  it('are one per event and webhook that wants it, in one lane per webhook and run', () => {
    const rows = rowsWith(subscription('all'), subscription('ends', { events: ['run.completed'] }))(
      record(),
      log,
    );

    expect(rows.map(({ id, lane, topic }) => [id, lane, topic])).toEqual([
      ['all.run-1.0', 'all.run-1', 'webhook:all'],
      ['all.run-1.1', 'all.run-1', 'webhook:all'],
      ['all.run-1.2', 'all.run-1', 'webhook:all'],
      ['ends.run-1.2', 'ends.run-1', 'webhook:ends'],
    ]);
  });

  it('are one per question for a callback, which waits for no other', () => {
    const rows = rowsWith()(record({ callbackUrl: 'https://desk.example.org/q?t=s3cret' }), log);

    expect(rows).toEqual([
      {
        id: 'callback.run-1.1',
        topic: 'callback:https://desk.example.org',
        dueAt: log[1]?.at,
        body: { seq: 1 },
      },
    ]);
  });

  it.each<[string, Partial<CreationRecord>]>([
    ['a replay', { fork: { sourceRunId: 'source', fromSeq: 0, mode: 'replay' } }],
    ['an import', { imported: { bundleDigest: 'd', runId: 'other', verified: true } }],
  ])('are none for %s, which only repeats what was delivered', (_name, more) => {
    const fields = { callbackUrl: 'https://desk.example.org/', ...more };

    expect(rowsWith(subscription('w'))(record(fields), log)).toEqual([]);
  });

  it('are there for a branch', () => {
    const branch = record({ fork: { sourceRunId: 'source', fromSeq: 0, mode: 'branch' } });

    expect(rowsWith(subscription('w'))(branch, log)).toHaveLength(3);
  });
});
