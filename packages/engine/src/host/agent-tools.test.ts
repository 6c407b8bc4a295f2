import type { Json, JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { node, variable } from '../core/testing/definitions.ts';
import { openMemoryStore } from '../memory-store/memory-store.ts';
import { scripted } from '../nodes/agents/testing/scripted-model.ts';
import { alice, startHost, type TestHost, until } from '../runtime/testing/test-host.ts';
import { connectWorker, type TestWorker } from '../runtime/workers/testing/test-worker.ts';
import type { HostOptions } from './host-options.ts';

const opened: TestHost[] = [];

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

async function open(options: Partial<HostOptions>): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

const LOOKUP = {
  typeId: 'acme.look-up',
  version: '1.2.0',
  summary: 'Looks an order up.',
  inputs: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  outputs: { type: 'object', properties: { state: { type: 'string' } } },
};

function worker(test: TestHost, types: readonly JsonObject[] = [LOOKUP]): Promise<TestWorker> {
  return connectWorker(test.host, { capacity: 4, types: types as never });
}

async function begin(test: TestHost, config: JsonObject): Promise<string> {
  const agent = node('agent', 'weft.ai.agent', { instructions: 'Be brief.', prompt: 'Go.', ...config });
  await test.register({ nodes: [agent] }, 'work');
  return test.run('work');
}

async function ended(test: TestHost, runId: string) {
  return until(async () => {
    const snapshot = (await test.host.runs.snapshot(alice, runId))?.snapshot;
    return /^(completed|failed|cancelled)$/.test(snapshot?.status ?? '') ? snapshot : undefined;
  });
}

async function events(test: TestHost, runId: string): Promise<{ type: string; payload: JsonObject }[]> {
  const stored = await test.store.readEvents(runId, 0, 10_000, 1e9);
  return stored.map(({ type, payload }) => ({ type, payload: JSON.parse(payload) as JsonObject }));
}

async function answer(test: TestHost, runId: string, nodeId: string, value: Json): Promise<void> {
  await until(async () => ((await test.status(runId)) === 'waiting-approval' ? true : undefined));
  const by = { by: 'alice', byUser: false, viaLink: false };
  await test.host.runs.command(alice, runId, { type: 'resolve', nodeId, value, ...by });
}

function childOf(test: TestHost, runId: string, index: number): Promise<string> {
  return until(async () => {
    const dispatched = (await events(test, runId)).filter(({ type }) => type === 'node.dispatched');
    return dispatched[index]?.payload['childRunId'] as string | undefined;
  });
}

/** Ids of runs differ, nothing else may. */
async function replayOf(test: TestHost, runId: string): Promise<void> {
  const forked = await test.host.runs.fork(alice, runId, { mode: 'replay' });
  const replay = forked !== undefined && 'runId' in forked ? forked.runId : '';
  await ended(test, replay);
  const plain = (list: Awaited<ReturnType<typeof events>>) =>
    list.map(({ type, payload: { runId: _own, ...payload } }) => ({ type, payload }));
  expect(plain(await events(test, replay))).toEqual(plain(await events(test, runId)));
}

describe('a node type as a tool of an agent', () => {
  it('is performed by a worker as a step of its own, in the version that the definition was registered with', async () => {
    const { models, requests } = scripted(
      { calls: [['node__acme_look-up', { order: 'A-17' }]] },
      { text: 'It is shipped.' },
    );
    const test = await open({ models });
    const serving = await worker(test);

    const runId = await begin(test, { tools: ['node:acme.look-up'] });
    const task = await serving.next();
    await worker(test, [{ ...LOOKUP, version: '2.0.0' }]);
    const { taskId, lease } = task;
    await serving.report({
      chunks: [{ taskId, lease, index: 0, text: 'Looking… ' }],
      logs: [{ taskId, lease, level: 'info', message: 'one row' }],
    });
    await serving.succeed(task, { state: 'shipped' });

    expect(task).toMatchObject({
      typeId: 'acme.look-up',
      version: '1.2.0',
      config: {},
      inputs: { order: 'A-17' },
    });
    expect(await ended(test, runId)).toMatchObject({
      status: 'completed',
      outputs: { output: 'It is shipped.' },
    });
    expect(requests[0]?.tools).toMatchObject([{ name: 'node__acme_look-up', inputSchema: LOOKUP.inputs }]);
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      text: '<untrusted source="node:acme.look-up">\n{"state":"shipped"}\n</untrusted>',
    });
    const registered = await test.host.workflows.get(alice, 'work');
    expect(registered?.nodes[0]?.config['tools']).toEqual(['node:acme.look-up@1.2.0']);
    expect(
      (await events(test, runId)).find(({ type }) => type === 'agent.toolCalled')?.payload,
    ).toMatchObject({
      toolName: 'node:acme.look-up',
      transport: 'native',
    });
    // Logs and chunks of the tool are on record with its step.
    const log = await events(test, runId);
    const from = log.findIndex(({ payload }) => payload['step'] === 'turn-1.call-0');
    const to = log.findLastIndex(({ payload }) => payload['step'] === 'turn-1.call-0');
    const said = log.slice(from, to + 1).filter(({ payload }) => payload['chunk'] !== '');
    expect(said).toMatchObject([
      { type: 'weft.step.started' },
      { type: 'output.chunk', payload: { chunk: 'Looking… ', isLast: false } },
      { type: 'log.appended', payload: { level: 'info', message: 'one row' } },
      { type: 'weft.step.completed', payload: { result: { state: 'shipped' } } },
    ]);
    await replayOf(test, runId);
    expect(serving.tasks()).toHaveLength(1);
  });

  it('goes to the model as an error where its inputs do not fit, and waits for a person where the config says so', async () => {
    const { models, requests } = scripted(
      { calls: [['node__acme_look-up', { order: 7 }]] },
      { calls: [['node__acme_look-up', { order: 'A-17' }]] },
      { text: 'Then not.' },
    );
    const test = await open({ models });
    const serving = await worker(test);
    const runId = await begin(test, { tools: ['node:acme.look-up'], requireApproval: ['node:acme.*'] });

    await answer(test, runId, 'agent', { action: 'accept' });
    await until(() => requests.length === 2);
    await answer(test, runId, 'agent', { action: 'reject', comment: 'Not today.' });

    expect(await ended(test, runId)).toMatchObject({ status: 'completed' });
    expect(serving.tasks()).toEqual([]);
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      isError: true,
      text: expect.stringContaining('order') as string,
    });
    expect(requests[2]?.messages.at(-1)).toMatchObject({ isError: true });
  });

  it.each([
    ['node:acme.unknown', 'no worker has served it'],
    ['node:acme.look-up@9.0.0', 'is not known in version "9.0.0"'],
    ['node:core.approvalGate', '"core.approvalGate" waits or leads on'],
    ['node:core.delay', '"core.delay" waits'],
    ['node:weft.ai.agent', '"weft.ai.agent" waits'],
    ['node:core.http.request', 'not offered as a tool'],
    ['node:core.identity', 'not offered as a tool'],
    ['node:acme.strict', 'needs a config'],
    ['node:acme.*', 'in full'],
    ['workflow:order-*', 'in full'],
    ['workflow:work', 'its own agent'],
    ['workflow:order@1', 'names no tool'],
  ])('is refused at registration: %s', async (tool, why) => {
    const test = await open({});
    const config = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] };
    await worker(test, [LOOKUP, { ...LOOKUP, typeId: 'acme.strict', config }]);

    const refused = await begin(test, { tools: [tool] }).catch((error: unknown) => error);

    expect(refused).toMatchObject({ code: 'validation_error' });
    expect(JSON.stringify(refused)).toContain('/nodes/0/config/tools/0');
    expect(JSON.stringify(refused).replaceAll('\\', '')).toContain(why);
  });
});

const STATUS = {
  nodes: [
    node('gate', 'core.approvalGate', { title: 'Tell them?' }),
    node('done', 'core.end', {}, { inputs: { state: { type: 'variable', variableName: 'order' } } }),
  ],
  edges: [{ from: 'gate', to: 'done' }],
  variables: [variable('order', { required: true, description: 'Which one.' })],
};

describe('a workflow as a tool of an agent', () => {
  it('is run as a child, waited for across a restart, and its outputs are the answer', async () => {
    const store = openMemoryStore();
    const { models, requests } = scripted(
      {
        calls: [
          ['workflow__order-status', { order: 'A-17' }],
          ['workflow__order-status', { order: 17 }],
        ],
      },
      { text: 'Shipped.' },
    );
    const first = await startHost({ models, store });
    await first.register(STATUS, 'order-status');
    const runId = await begin(first, { tools: ['workflow:order-status'] });
    await until(async () => ((await first.status(runId)) === 'waiting-approval' ? true : undefined));
    await first.host.stop(0);
    const test = await open({ models, store });
    const child = await childOf(test, runId, 0);

    await answer(test, child, 'gate', { action: 'accept' });

    expect(await ended(test, runId)).toMatchObject({
      status: 'completed',
      outputs: { output: 'Shipped.', turns: 2 },
    });
    expect(requests).toHaveLength(2);
    expect(requests[0]?.tools).toMatchObject([
      { inputSchema: { properties: { order: { description: 'Which one.' } }, required: ['order'] } },
    ]);
    expect(requests[1]?.messages.slice(-2)).toMatchObject([
      { text: expect.stringContaining('"state":"A-17"') as string },
      { isError: true, text: expect.stringContaining('child_input_invalid') as string },
    ]);
    await replayOf(test, runId);
    expect(requests).toHaveLength(2);
  });

  it('is cancelled with its run, and a failure of it is an error of the tool', async () => {
    const { models, requests } = scripted(
      { calls: [['workflow__order-status', { order: 'A-17' }]] },
      { calls: [['workflow__order-status', { order: 'A-18' }]] },
    );
    const test = await open({ models });
    await test.register(STATUS, 'order-status');
    const runId = await begin(test, { tools: ['workflow:order-status'] });

    await answer(test, await childOf(test, runId, 0), 'gate', { action: 'reject' });
    const second = await childOf(test, runId, 1);
    await until(async () => ((await test.status(runId)) === 'waiting-approval' ? true : undefined));
    await test.host.runs.command(alice, runId, { type: 'cancel' });

    expect(await ended(test, second)).toMatchObject({ status: 'cancelled' });
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      isError: true,
      text: expect.stringContaining('"status":"failed"') as string,
    });
  });

  it('that is not there fails the agent before it asks a model', async () => {
    const { models, requests } = scripted({ text: 'Hm.' });
    const test = await open({ models });

    const runId = await begin(test, { tools: ['workflow:gone'] });

    expect(await ended(test, runId)).toMatchObject({ status: 'failed', error: { code: 'tool_unknown' } });
    expect(requests).toEqual([]);
  });
});
