import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { node, variable } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { Command, RunRow, Store, WriteUnit } from '../../ports/store.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';

const opened: TestHost[] = [];

async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const GATE = { nodes: [node('gate', 'core.approvalGate')] };
const EFFECT = { nodes: [node('work', 'test.effect')] };
const parentOf = (workflowId: string, config: JsonObject = {}) => ({
  nodes: [node('sub', 'core.subWorkflow', { workflowId, ...config })],
});

async function childrenOf(store: Store, runId: string): Promise<RunRow[]> {
  const { rows } = await store.listRuns('default', {}, { limit: 100 });
  return rows.filter(({ record }) => record.parent?.runId === runId);
}

const reaches = (test: TestHost, runId: string, status: string) =>
  until(async () => (await test.status(runId)) === status);
const send = (test: TestHost, runId: string, command: Command) =>
  test.host.runs.command(alice, runId, command);
const answer = (test: TestHost, runId: string, value: JsonObject) =>
  send(test, runId, { type: 'resolve', nodeId: 'gate', value, by: 'alice', byUser: false, viaLink: false });

/** A store that refuses to create runs of one workflow while that is switched on. */
function stubborn(workflowId: string): Store & { refuses: boolean; refused: number } {
  const store = openMemoryStore();
  const isCreation = (unit: WriteUnit): boolean =>
    unit.kind === 'run' && unit.create?.record.workflowId === workflowId;
  const self = {
    ...store,
    refuses: true,
    refused: 0,
    async commit(units: readonly WriteUnit[]) {
      if (self.refuses && units.some(isCreation)) {
        self.refused += 1;
        throw new Error('not now');
      }
      return store.commit(units);
    },
  };
  return self;
}

describe('a child run', () => {
  it('belongs to its parent’s tenant and names it; the parent waits and resumes with it', async () => {
    const test = await open();
    await test.register(GATE, 'child');
    const runId = await test.run(await test.register(parentOf('child'), 'parent'));

    await reaches(test, runId, 'waiting-approval');
    const [child] = await childrenOf(test.store, runId);
    await answer(test, child?.record.runId ?? '', { action: 'accept' });
    await reaches(test, runId, 'completed');

    expect(child?.record).toMatchObject({
      tenant: 'default',
      workflowId: 'child',
      parent: { runId, nodeId: 'sub', nodeKey: 'sub', ancestors: ['parent'] },
    });
    expect(await childrenOf(test.store, runId)).toHaveLength(1);
  });

  it('hands its variables up through every run above it', async () => {
    const test = await open();
    const variables = [variable('said')];
    const setter = { nodes: [node('set', 'core.setVariable', { name: 'said', value: 'deep' })], variables };
    const mapping = { outputMapping: { said: 'said' } };
    await test.register(setter, 'grandchild');
    await test.register({ ...parentOf('grandchild', mapping), variables }, 'child');
    const runId = await test.run(await test.register({ ...parentOf('child', mapping), variables }, 'parent'));

    await reaches(test, runId, 'completed');

    expect((await test.host.runs.snapshot(alice, runId))?.snapshot['variables']).toEqual({ said: 'deep' });
  });

  it('is cancelled with the run above its parent', async () => {
    const test = await open();
    await test.register(EFFECT, 'grandchild');
    await test.register(parentOf('grandchild'), 'child');
    const runId = await test.run(await test.register(parentOf('child'), 'parent'));
    const call = await until(() => test.effects.calls[0]);

    await send(test, runId, { type: 'cancel' });

    await until(() => call.context.signal.aborted);
    const { rows } = await test.store.listRuns('default', {}, { limit: 10 });
    await until(async () => {
      const statuses = await Promise.all(rows.map(({ record }) => test.status(record.runId)));
      return statuses.every((status) => status === 'cancelled');
    });
    expect(rows).toHaveLength(3);
  });

  it('continues alone where the cancel is not passed on, and its end affects no other run', async () => {
    const test = await open();
    await test.register(EFFECT, 'child');
    const spec = parentOf('child', { propagateCancellation: false });
    const runId = await test.run(await test.register(spec, 'parent'));
    const call = await until(() => test.effects.calls[0]);

    await send(test, runId, { type: 'cancel' });
    call.succeed();

    const [child] = await childrenOf(test.store, runId);
    await reaches(test, child?.record.runId ?? '', 'completed');
    expect((await test.types(runId)).at(-1)).toBe('run.cancelled');
  });

  it('that is cancelled by itself fails its parent', async () => {
    const test = await open();
    await test.register(GATE, 'child');
    const runId = await test.run(await test.register(parentOf('child'), 'parent'));
    await reaches(test, runId, 'waiting-approval');

    const [child] = await childrenOf(test.store, runId);
    await send(test, child?.record.runId ?? '', { type: 'cancel' });

    await reaches(test, runId, 'failed');
    expect((await test.host.runs.snapshot(alice, runId))?.snapshot['error']).toMatchObject({
      code: 'child_failed',
    });
  });
});

describe('a child run that cannot be', () => {
  it('fails its parent: no such workflow', async () => {
    const test = await open();
    const runId = await test.run(await test.register(parentOf('nowhere'), 'parent'));

    await reaches(test, runId, 'failed');

    expect((await test.host.runs.snapshot(alice, runId))?.snapshot['error']).toMatchObject({
      code: 'unknown_child_workflow',
    });
  });

  it('fails its parent: a workflow that is running above it', async () => {
    const test = await open();
    await test.register(parentOf('parent', { onChildFailure: 'fail-parent' }), 'child');
    const runId = await test.run(await test.register(parentOf('child'), 'parent'));

    await reaches(test, runId, 'failed');

    const [child] = await childrenOf(test.store, runId);
    const snapshot = await test.host.runs.snapshot(alice, child?.record.runId ?? '');
    expect(snapshot?.snapshot['error']).toMatchObject({ code: 'child_recursion' });
    expect(await childrenOf(test.store, child?.record.runId ?? '')).toEqual([]);
  });

  it('fails its parent: inputs that the child’s workflow does not take', async () => {
    const test = await open();
    const variables = [variable('count', { type: 'number' })];
    await test.register({ ...GATE, variables }, 'child');
    const spec = { ...parentOf('child', { inputMapping: { count: 'word' } }), variables: [variable('word')] };
    const runId = await test.run(await test.register(spec, 'parent'), { inputs: { word: 'many' } });

    await reaches(test, runId, 'failed');

    expect((await test.host.runs.snapshot(alice, runId))?.snapshot['error']).toMatchObject({
      code: 'child_input_invalid',
    });
  });
});

describe('a child run whose creation was cut off', () => {
  it('is created once, under the same id, by the host that takes over', async () => {
    const store = stubborn('child');
    const first = await open({ store });
    await first.register(GATE, 'child');
    const runId = await first.run(await first.register(parentOf('child'), 'parent'));
    await until(() => store.refused > 0);
    await first.host.stop(0);
    expect(await childrenOf(store, runId)).toEqual([]);
    store.refuses = false;

    const second = await open({ store });
    await reaches(second, runId, 'waiting-approval');

    const events = await store.readEvents(runId, 0, 100, 1e6);
    const announced = events.find(({ type }) => type === 'node.dispatched')?.payload ?? '{}';
    const [child, ...others] = await childrenOf(store, runId);
    expect(child?.record.runId).toBe((JSON.parse(announced) as JsonObject)['childRunId']);
    expect(others).toEqual([]);
  });

  it('is created after all when the parent was paused meanwhile and is resumed elsewhere', async () => {
    const store = stubborn('child');
    const first = await open({ store });
    await first.register(GATE, 'child');
    const runId = await first.run(await first.register(parentOf('child'), 'parent'));
    await until(() => store.refused > 0);
    await send(first, runId, { type: 'pause', policy: 'immediate' });
    await reaches(first, runId, 'paused');
    await first.host.stop(0);
    store.refuses = false;

    const second = await open({ store });
    await send(second, runId, { type: 'resume' });

    await reaches(second, runId, 'waiting-approval');
    expect(await childrenOf(store, runId)).toHaveLength(1);
  });

  it('is never created once its parent is cancelled', async () => {
    const store = stubborn('child');
    const first = await open({ store });
    await first.register(GATE, 'child');
    const runId = await first.run(await first.register(parentOf('child'), 'parent'));
    await until(() => store.refused > 0);
    await send(first, runId, { type: 'cancel' });
    store.refuses = false;

    await first.host.stop(0);
    const second = await open({ store });

    expect(await second.status(runId)).toBe('cancelled');
    expect(await childrenOf(store, runId)).toEqual([]);
  });
});

describe('a waiting parent', () => {
  it('continues in another host when its child is answered there', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    await first.register(GATE, 'child');
    const runId = await first.run(await first.register(parentOf('child'), 'parent'));
    await reaches(first, runId, 'waiting-approval');
    const [child] = await childrenOf(store, runId);
    await first.host.stop(0);

    const second = await open({ store });
    await answer(second, child?.record.runId ?? '', { action: 'accept' });

    await reaches(second, runId, 'completed');
  });
});

describe('a paused parent', () => {
  it('hears of its child’s end after the resume, also when that is in another host', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    await first.register(EFFECT, 'child');
    const runId = await first.run(await first.register(parentOf('child'), 'parent'));
    const call = await until(() => first.effects.calls[0]);
    await send(first, runId, { type: 'pause', policy: 'immediate' });
    await reaches(first, runId, 'paused');
    call.succeed();
    const [child] = await childrenOf(store, runId);
    await reaches(first, child?.record.runId ?? '', 'completed');
    await first.host.stop(0);

    const second = await open({ store });
    expect(await second.status(runId)).toBe('paused');
    await send(second, runId, { type: 'resume' });

    await reaches(second, runId, 'completed');
  });

  it('stays paused while its child ends, and completes when it is resumed', async () => {
    const store = openMemoryStore();
    const test = await open({ store });
    await test.register(EFFECT, 'child');
    const runId = await test.run(await test.register(parentOf('child'), 'parent'));
    const call = await until(() => test.effects.calls[0]);
    await send(test, runId, { type: 'pause', policy: 'immediate' });
    await reaches(test, runId, 'paused');

    call.succeed();
    const [child] = await childrenOf(store, runId);
    await reaches(test, child?.record.runId ?? '', 'completed');
    expect(await test.status(runId)).toBe('paused');
    await send(test, runId, { type: 'resume' });

    await reaches(test, runId, 'completed');
  });
});
