import type { JsonObject, TaskMessage } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { chain, node, variable } from '../../core/testing/definitions.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';
import { connectWorker, type TestWorker } from './testing/test-worker.ts';

/** Code of users that uses its run: it asks, reads and sets. */

const ASKER = {
  typeId: 'acme.asker',
  version: '1.0.0',
  uses: ['questions' as const, 'variables' as const, 'channels' as const],
  outputs: { type: 'object', properties: { said: {} } },
};

const FLOW = {
  nodes: [
    node('start'),
    node('ask', 'acme.asker'),
    node('later', 'core.delay', { delayMs: 30 }),
    node('other', 'core.setVariable', { name: 'amount', value: 99 }),
  ],
  edges: [...chain('start', 'ask'), ...chain('start', 'later', 'other')],
  variables: [
    variable('amount', { type: 'number', defaultValue: 7 }),
    variable('secret', { defaultValue: 'hush-hush-hush', sensitive: true }),
  ],
  channels: {
    notes: { reducer: 'append' },
    locked: { reducer: 'replace', access: { writers: ['other'] } },
  },
};

const hosts: TestHost[] = [];

async function open(options: Parameters<typeof startHost>[0] = {}): Promise<[TestHost, TestWorker]> {
  const test = await startHost({ ...options, limits: { workerLeaseMs: 300, ...options.limits } });
  hosts.push(test);
  return [test, await connectWorker(test.host, { types: [ASKER] })];
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map(({ host }) => host.stop(0)));
});

const ask = (
  worker: TestWorker,
  { taskId, lease }: TaskMessage,
  rest: JsonObject = { record: { nowMs: 5 } },
) =>
  worker.report({
    results: [{ taskId, lease, ask: { kind: 'custom', data: { customKind: 'how-much' } }, ...rest }],
  });

const waiting = (test: TestHost, runId: string) =>
  until(async () => (await test.status(runId)) === 'waiting-input');

const answer = (test: TestHost, runId: string, value: JsonObject) =>
  test.host.runs.command(alice, runId, {
    type: 'resolve',
    nodeId: 'ask',
    value,
    by: 'alice',
    byUser: false,
    viaLink: false,
  });

async function story(test: TestHost, runId: string): Promise<string[]> {
  const polled = await test.host.runs.events(alice, runId, -1, 1_000);
  return (polled?.events ?? [])
    .map(({ document }) => JSON.parse(document) as { type: string; nodeId?: string; payload: JsonObject })
    .filter(({ nodeId }) => nodeId === 'ask')
    .map(({ type, payload: { runId: _run, writtenAt: _at, ...said } }) => `${type} ${JSON.stringify(said)}`);
}

describe('code that uses its run', () => {
  it('asks, outlives its host, sees the same values again, and sets when it completes (J-11, J-12)', async () => {
    const [first, worker] = await open();
    const runId = await first.run(await first.register(FLOW));
    const task = await worker.next();
    const given = {
      answers: [],
      variables: { amount: 7, secret: 'hush-hush-hush' },
      channels: { notes: [], locked: null },
      writable: ['notes'],
    };
    expect(task.run).toEqual(given);
    await ask(worker, task);
    await waiting(first, runId);
    await first.host.stop(0);

    const [second, again] = await open({ store: first.store });
    await until(async () => (await second.types(runId)).includes('variable.changed'));
    await answer(second, runId, { much: 3 });
    const resumed = await again.next();
    expect(resumed.run).toEqual({ ...given, answers: [{ much: 3 }], record: { nowMs: 5 } });
    await again.report({
      results: [
        {
          taskId: resumed.taskId,
          lease: resumed.lease,
          outputs: { said: 'yes' },
          variables: { amount: 8 },
          channels: [{ channel: 'notes', value: 'n' }],
        },
      ],
    });
    await until(async () => (await second.status(runId)) === 'completed');

    const told = await story(second, runId);
    expect(told.map((line) => line.split(' ')[0])).toEqual([
      'node.started',
      'weft.step.started',
      'weft.step.completed',
      'node.suspended',
      'interrupt.requested',
      'interrupt.resolved',
      'node.resumed',
      'weft.step.started',
      'weft.step.completed',
      'variable.changed',
      'channel.written',
      'node.completed',
    ]);
    expect(told.join('\n')).not.toMatch(/nowMs|hush/);

    const replay = await second.host.runs.fork(alice, runId, { mode: 'replay' });
    const replayed = replay !== undefined && !replay.replayed ? replay.runId : '';
    await until(async () => (await second.status(replayed)) === 'completed');
    expect(await story(second, replayed)).toEqual(told);
    expect(again.tasks()).toHaveLength(1);

    const asked = (await second.types(runId)).indexOf('interrupt.resolved');
    // Forked before the answer: the question is open, and the code sees the values of its first call.
    const fork = await second.host.runs.fork(alice, runId, { mode: 'branch', fromSeq: asked });
    const branch = fork !== undefined && !fork.replayed ? fork.runId : '';
    await waiting(second, branch);
    await answer(second, branch, { much: 4 });
    expect((await again.next()).run).toEqual({
      ...given,
      answers: [{ much: 4 }],
      record: { nowMs: 5 },
    });
  });

  it.each<[string, JsonObject, string]>([
    ['a variable of another type', { outputs: {}, variables: { amount: 'much' } }, 'variable_type_mismatch'],
    [
      'a channel it may not write',
      { outputs: {}, channels: [{ channel: 'locked', value: 1 }] },
      'channel_access_denied',
    ],
    ['outputs that do not fit', { outputs: { other: 1 } }, 'output_invalid'],
    ['a question without its kind', { ask: { kind: 'custom', data: {} } }, 'validation_error'],
    [
      'a question that a gate could not ask',
      { ask: { kind: 'approval', data: { actions: ['burn'] } } },
      'validation_error',
    ],
    [
      'an invalid schema',
      { ask: { kind: 'custom', data: { customKind: 'a' }, resumeSchema: { type: 7 } } },
      'validation_error',
    ],
    [
      'more than its record may hold',
      { ask: { kind: 'custom', data: { customKind: 'a' } }, record: { text: 'x'.repeat(300_000) } },
      'output_too_large',
    ],
  ])('fails with %s, and sets nothing', async (_, end, code) => {
    const [test, worker] = await open();
    const runId = await test.run(await test.register(FLOW));
    const { taskId, lease } = await worker.next();

    await worker.report({ results: [{ taskId, lease, ...end }] });

    await until(async () => (await test.status(runId)) === 'failed');
    const told = (await story(test, runId)).join('\n');
    expect(told).toContain(`"code":"${code}"`);
    expect(told).not.toMatch(/variable\.changed|channel\.written|interrupt\.requested/);
  });

  it('may not do so where its type does not say it', async () => {
    const [test, worker] = await open();
    const plain = await connectWorker(test.host, {
      types: [{ ...ASKER, typeId: 'acme.plain', uses: ['variables'] }],
    });
    const runId = await test.run(await test.register({ nodes: [node('ask', 'acme.plain')] }));

    await ask(plain, await plain.next());

    await until(async () => (await test.status(runId)) === 'failed');
    expect((await story(test, runId)).join('\n')).toContain('"suspend_not_supported"');
    await worker.close();
  });
});
