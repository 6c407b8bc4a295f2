import type { Command, EraseUnit, PurgeUnit } from '../../ports/store.ts';
import {
  appendUnit,
  blobUnit,
  commandUnit,
  completed,
  createUnit,
  documentUnit,
  event,
  events,
  given,
  newBatchId,
  newRunId,
  START,
  type CreateOptions,
  waiting,
} from '../fixtures.ts';
import type { Subject } from '../subject.ts';

export const DAY = 86_400_000;

export function purgeUnit(runId: string, more: Partial<PurgeUnit> = {}): PurgeUnit {
  const unit = { kind: 'purge', batchId: newBatchId(), tenant: 'acme', runId } as const;
  return { ...unit, at: START + 50, tombstoneUntil: START + DAY, ...more };
}

export function eraseUnit(runId: string, more: Partial<EraseUnit> = {}): EraseUnit {
  return { kind: 'erase', batchId: newBatchId(), tenant: 'acme', runId, at: START + 60, ...more };
}

export const IMPORTED = {
  imported: { bundleDigest: 'e'.repeat(64), runId: 'their run', verified: true },
} satisfies CreateOptions['record'];

export const ANSWER = {
  type: 'resolve',
  nodeId: 'gate',
  value: { secret: 'canary' },
  by: 'ada',
  byUser: true,
  viaLink: false,
} as const satisfies Command;

export const CHANNEL = {
  type: 'channel',
  channel: 'totals',
  value: { secret: 'canary' },
  sourceRunId: '018bcfe5-6800-7000-8000-000000000001',
  sourceEngineId: 'weft',
  writer: { nodeId: 'send', typeId: 'core.channelWrite' },
} as const satisfies Command;

export const CHILD = {
  type: 'child',
  nodeKey: 'work',
  childRunId: '018bcfe5-6800-7000-8000-000000000001',
  status: 'completed',
  outputs: { secret: 'canary' },
  variables: { secret: 'canary' },
  sensitive: ['secret'],
} as const satisfies Command;

/** Runs that have ended, are running or were imported, for the tests of what is kept of them. */
export function keptRuns(subject: Subject) {
  /** A run that has ended, with something of everything a run can have. */
  async function givenEndedRun(more: CreateOptions = {}): Promise<string> {
    const { store } = subject;
    const runId = newRunId();
    await store.heartbeat('h1', 10_000);
    const record = { tags: ['nightly', 'it’s'], inputs: { name: 'canary' }, ...more.record };
    const tenant = record.tenant ?? 'acme';
    const outbox = [{ id: `o-${runId}`, topic: 't', lane: `l-${runId}`, dueAt: START, body: {} }];
    const open = [event(0, 'run.started', { overlay: '{"inputs":{"name":"canary"}}' }), event(1)];
    await given(
      store,
      createUnit(runId, { holder: 'h1', outbox, ...more, record, events: more.events ?? open }),
      commandUnit(runId, 'answer', { tenant, command: ANSWER }),
      commandUnit(runId, 'child', { tenant, command: CHILD }),
      commandUnit(runId, 'channel', { tenant, command: CHANNEL, inboxLimit: 9 }),
      commandUnit(runId, 'pause', { tenant, command: { type: 'pause', policy: 'immediate' }, inboxLimit: 9 }),
      blobUnit(runId, 0, { tenant }),
      documentUnit('note', { tenant, collection: 'annotation', scope: runId }),
      documentUnit('report', { tenant, collection: 'artifact', scope: runId }),
    );
    const from = (more.expectedSeq ?? 0) + (more.events ?? open).length;
    await given(
      store,
      appendUnit(runId, from, {
        events: [event(from, 'run.completed')],
        head: completed,
        checkpoint: { seq: from + 1, foldVersion: 1, state: '{"secret":"canary"}' },
        consume: [{ commandId: 'answer', commandResult: { applied: true, status: 'completed', at: START } }],
      }),
    );
    return runId;
  }

  async function end(runId: string, from: number): Promise<void> {
    await given(
      subject.store,
      appendUnit(runId, from, { events: [event(from, 'run.completed')], head: completed }),
    );
  }

  async function givenOpenRun(more: CreateOptions = {}): Promise<string> {
    const runId = newRunId();
    await subject.store.heartbeat('h1', 10_000);
    await given(subject.store, createUnit(runId, { holder: 'h1', events: [event(0)], ...more }));
    return runId;
  }

  async function givenImportedRun(): Promise<string> {
    const runId = newRunId();
    const record = { ...IMPORTED, inputs: { name: 'canary' } };
    await given(subject.store, createUnit(runId, { record, events: [event(0)], head: waiting }));
    return runId;
  }

  const forkOf = (sourceRunId: string, fromSeq = 1): CreateOptions => ({
    record: { fork: { sourceRunId, fromSeq, mode: 'branch' } },
    expectedSeq: fromSeq,
    events: events(fromSeq, 1),
  });

  return { givenEndedRun, end, givenOpenRun, givenImportedRun, forkOf };
}
