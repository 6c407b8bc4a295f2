import { afterEach, describe, expect, it } from 'vitest';
import { renderDiff, type RunDiff } from '../../core/diff/render-diff.ts';
import { chain, node, variable, type WorkflowSpec } from '../../core/testing/definitions.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';

const opened: TestHost[] = [];

async function open(store = openMemoryStore()): Promise<TestHost> {
  const test = await startHost({ store });
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const NEVER = new AbortController().signal;

async function ops(diff: RunDiff | undefined): Promise<string[]> {
  const found: string[] = [];
  for await (const { op, seq } of diff?.differences ?? []) found.push(`${op} ${seq}`);
  return found;
}

async function text(diff: RunDiff | undefined): Promise<string> {
  let written = '';
  if (diff !== undefined) for await (const piece of renderDiff(diff)) written += piece;
  return written;
}

const GREETING: WorkflowSpec = {
  variables: [variable('who', { defaultValue: 'world' }), variable('token', { sensitive: true })],
  nodes: [
    node('greet', 'core.setVariable', { name: 'said', expression: '"hello " + variables.who' }),
    node('end'),
  ],
  edges: chain('greet', 'end'),
};

const ended = (test: TestHost, runId: string) =>
  until(async () => ['completed', 'failed', 'cancelled'].includes((await test.status(runId)) ?? ''));

async function finished(test: TestHost, workflowId: string, inputs = {}): Promise<string> {
  const runId = await test.run(workflowId, { inputs });
  await ended(test, runId);
  return runId;
}

describe('the diff of two runs', () => {
  it('of the same workflow, inputs and outcomes is empty', async () => {
    const test = await open();
    const workflow = await test.register(GREETING);
    const [a, b] = [await finished(test, workflow), await finished(test, workflow)];

    const diff = await test.host.runs.diff(alice, a, b, NEVER);

    expect(await text(diff)).toBe(
      `{"a":"${a}","b":"${b}","divergedAtSeq":null,"eventDiffs":[],"stateDiff":{}}`,
    );
  });

  it('names the first sequence that differs, and the states where they do', async () => {
    const test = await open();
    const workflow = await test.register(GREETING);
    const [a, b] = [await finished(test, workflow), await finished(test, workflow, { who: 'you' })];

    const diff = await test.host.runs.diff(alice, a, b, NEVER);

    const found = await ops(diff);
    expect(found[0]).toBe(`changed ${diff?.divergedAtSeq}`);
    expect(diff?.stateDiff).toMatchObject({
      variables: { a: { who: 'world' }, b: { who: 'you' } },
    });
    expect(diff?.stateDiff).not.toHaveProperty('status');
  });

  it('shows no sensitive value', async () => {
    const test = await open();
    const workflow = await test.register(GREETING);
    const [a, b] = [
      await finished(test, workflow, { token: 'first-very-secret' }),
      await finished(test, workflow, { token: 'second-very-secret' }),
    ];

    const written = await text(await test.host.runs.diff(alice, a, b, NEVER));

    expect(written).not.toContain('very-secret');
  });

  it('of runs that have not ended compares what they had when it was requested, and says so', async () => {
    const test = await open();
    const workflow = await test.register({
      nodes: [node('call', 'test.effect'), node('end')],
      edges: chain('call', 'end'),
    });
    const [a, b] = [await test.run(workflow), await test.run(workflow)];
    await until(() => test.effects.calls.length === 2);

    const diff = await test.host.runs.diff(alice, a, b, NEVER);
    for (const [index, call] of test.effects.calls.entries()) call.succeed({ outputs: { output: index } });
    await ended(test, a);
    await ended(test, b);

    expect(diff).toMatchObject({ truncated: true, divergedAtSeq: null, stateDiff: {} });
    expect(await ops(diff)).toEqual([]);
  });

  it('of a run and itself is empty, and nothing is read for it', async () => {
    const store = openMemoryStore();
    const reads: string[] = [];
    const test = await open({
      ...store,
      readEvents(runId, ...rest) {
        reads.push(runId);
        return store.readEvents(runId, ...rest);
      },
    });
    const runId = await finished(test, await test.register(GREETING));
    reads.length = 0;

    const diff = await test.host.runs.diff(alice, runId, runId, NEVER);

    expect(diff).toMatchObject({ a: runId, b: runId, divergedAtSeq: null, stateDiff: {}, truncated: false });
    expect(await ops(diff)).toEqual([]);
    expect(reads).toEqual([]);
  });

  it('is nothing when either is unknown or belongs to another tenant', async () => {
    const test = await open();
    const workflow = await test.register(GREETING);
    const [a, b] = [await finished(test, workflow), await finished(test, workflow)];

    expect(await test.host.runs.diff(alice, a, 'unknown', NEVER)).toBeUndefined();
    expect(await test.host.runs.diff(alice, 'unknown', b, NEVER)).toBeUndefined();
    expect(await test.host.runs.diff(stranger, a, b, NEVER)).toBeUndefined();
    expect(await test.host.runs.diff(stranger, a, a, NEVER)).toBeUndefined();
  });

  it('stops reading when its caller has gone', async () => {
    const test = await open();
    const workflow = await test.register(GREETING);
    const [a, b] = [await finished(test, workflow), await finished(test, workflow)];

    await expect(test.host.runs.diff(alice, a, b, AbortSignal.abort())).rejects.toThrow();
  });
});
