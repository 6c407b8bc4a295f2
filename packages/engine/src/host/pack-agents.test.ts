import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { openMemoryStore } from '../memory-store/memory-store.ts';
import { scripted } from '../nodes/agents/testing/scripted-model.ts';
import type { Tools } from '../ports/tools.ts';
import { alice, startHost, stranger, type TestHost, until } from '../runtime/testing/test-host.ts';
import type { HostOptions } from './host-options.ts';
import type { OfferedAgent } from './surface/agents.ts';

const AGENT_ID = 'vendor.acme.support.triage';

const TRIAGE: OfferedAgent = {
  agentId: AGENT_ID,
  persona: 'Triage',
  label: 'Triage',
  modelClass: 'classification',
  packName: 'vendor.acme.support',
  packVersion: '1.0.0',
  toolAllowlist: ['mcp:tickets/read_*'],
  systemPrompt: 'Sort what comes in. SECRET-PROMPT',
  memoryShape: { scratchpad: true, longTerm: true },
  confidenceThreshold: 0.9,
  taskSchema: { type: 'object', required: ['subject'] },
  returnSchema: {
    type: 'object',
    required: ['kind'],
    properties: { kind: { enum: ['bug', 'question'] }, confidence: { type: 'number' } },
  },
};

const opened: TestHost[] = [];

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const TICKETS: Tools = {
  servers: ['tickets'],
  list: () =>
    Promise.resolve(
      ['read_one', 'delete_all'].map((name) => ({
        name,
        inputSchema: { type: 'object' },
        digest: `d-${name}`,
        isReadOnly: true,
        isIdempotent: true,
        isDestructive: false,
      })),
    ),
  call: () => Promise.resolve({ content: [{ type: 'text', text: 'It crashes.' }], isError: false }),
};

async function open(
  options: Partial<HostOptions>,
  agents: readonly OfferedAgent[] = [TRIAGE],
): Promise<TestHost> {
  const test = await startHost({ tools: TICKETS, ...options });
  opened.push(test);
  if (agents.length > 0) await test.host.agents.install(alice, agents);
  return test;
}

function triage(config: JsonObject = {}, agent: JsonObject = { agentId: AGENT_ID }): JsonObject {
  const inputs = { input: { type: 'variable', variableName: 'task' } };
  return {
    id: 'work',
    version: '1',
    nodes: [{ id: 'agent', typeId: 'weft.ai.agent', config, agent, inputs }],
    variables: [{ name: 'task', type: 'object' }],
  };
}

const register = (test: TestHost, definition: JsonObject = triage()) =>
  test.host.workflows.register(alice, definition, { strict: false, dev: false });

const begin = (test: TestHost, task: JsonObject = { subject: 'Crash' }) =>
  test.run('work', { inputs: { task } });

async function ended(test: TestHost, runId: string) {
  return until(async () => {
    const snapshot = (await test.host.runs.snapshot(alice, runId))?.snapshot;
    return snapshot?.status === 'completed' || snapshot?.status === 'failed' ? snapshot : undefined;
  });
}

async function logOf(test: TestHost, runId: string): Promise<{ type: string; payload: JsonObject }[]> {
  const events = await test.store.readEvents(runId, 0, 10_000, 1e9);
  return events.map(({ type, payload }) => ({ type, payload: JSON.parse(payload) as JsonObject }));
}

const BUG = '{"kind":"bug"}';

describe('a node that pins an agent of a pack', () => {
  it('asks with its prompt, its class of models, its tools and its schema, and speaks in its name', async () => {
    const { models, requests } = scripted({ calls: [['tickets__read_one', {}]] }, { text: BUG });
    const test = await open({ models });
    await register(test);

    const runId = await begin(test);
    const { outputs, agent } = await ended(test, runId);

    expect(outputs).toMatchObject({ output: { kind: 'bug' }, turns: 2 });
    expect(requests[0]).toMatchObject({ modelClass: 'classification', outputSchema: TRIAGE.returnSchema });
    expect(requests[0]?.messages[0]?.text).toContain('SECRET-PROMPT');
    expect(requests[0]?.tools?.map(({ name }) => name)).toEqual(['tickets__read_one']);
    expect(agent).toEqual({ agentId: AGENT_ID, version: '1.0.0', sourceManifestId: AGENT_ID });
    const log = await logOf(test, runId);
    const told = log.filter(({ type }) => type.startsWith('agent.'));
    expect(told.map(({ type }) => type)).toEqual(['agent.toolCalled', 'agent.toolReturned', 'agent.decided']);
    expect(new Set(told.map(({ payload }) => payload['agentId']))).toEqual(new Set([AGENT_ID]));
    expect(JSON.stringify(log)).not.toContain('SECRET-PROMPT');
  });

  it('keeps the version that it was registered with, also without its pack, and is replayed equal (N-6)', async () => {
    const store = openMemoryStore();
    const { models, requests } = scripted({ text: BUG });
    const before = await open({ models, store });
    await register(before);
    const first = await begin(before);
    await ended(before, first);
    await before.host.stop(0);

    const after = await open({ models, store }, [
      { ...TRIAGE, packVersion: '2.0.0', systemPrompt: 'Changed.' },
    ]);
    expect((await register(after)).created).toBe(false);
    await ended(after, await begin(after));
    const replay = await after.host.runs.fork(alice, first, { mode: 'replay' });
    if (replay === undefined || replay.replayed) throw new Error('not forked');
    await ended(after, replay.runId);

    expect(requests.map(({ messages }) => messages[0]?.text.slice(0, 4))).toEqual(['Sort', 'Sort']);
    const [one, other] = [await logOf(after, first), await logOf(after, replay.runId)].map((log) =>
      log.filter(({ type }) => type.startsWith('node.') || type.startsWith('agent.')),
    );
    expect(other).toEqual(one);
  });

  it('is not asked when its task does not fit, and fails when its answers do not', async () => {
    const { models, requests } = scripted({ text: '{"kind":"joke"}' });
    const test = await open({ models });
    await register(test);

    expect((await ended(test, await begin(test, { title: 'No subject' }))).error?.code).toBe(
      'handoff_task_schema_violation',
    );
    expect(requests).toHaveLength(0);
    expect((await ended(test, await begin(test))).error?.code).toBe('handoff_return_schema_violation');
  });

  it('has a person look at an answer that is less sure than its pack wants', async () => {
    const { models } = scripted({ text: '{"kind":"bug","confidence":0.8}' });
    const test = await open({ models });
    await register(test);
    const runId = await begin(test);
    await until(async () => ((await test.status(runId)) === 'waiting-approval' ? true : undefined));
    const by = { by: 'alice', byUser: false, viaLink: false };
    const say = (value: JsonObject) =>
      test.host.runs.command(alice, runId, { type: 'resolve', nodeId: 'agent', value, ...by });

    expect(await say({ decision: { kind: 'joke' } })).toMatchObject({
      commandResult: { applied: false, refusal: { code: 'validation_error' } },
    });
    await say({ decision: { kind: 'question' } });

    expect((await ended(test, runId)).outputs).toMatchObject({ output: { kind: 'question' } });
    expect((await logOf(test, runId)).find(({ type }) => type === 'agent.decided')?.payload).toMatchObject({
      confidence: 0.8,
    });
  });

  it.each<[string, JsonObject, JsonObject | undefined, RegExp]>([
    ['/nodes/0/config/instructions', { instructions: 'Obey me.' }, undefined, /prompt of its own/],
    ['/nodes/0/config/outputSchema', { outputSchema: {} }, undefined, /schema of its own/],
    ['/nodes/0/config/tools/0', { tools: ['mcp:tickets/*'] }, undefined, /allows mcp:tickets\/read_\*/],
    ['/nodes/0/config/tools/0', { tools: ['mcp:files/read_one'] }, undefined, /does not let it/],
    [
      '/nodes/0/config/tools/0',
      { tools: ['node:acme.any'] },
      undefined,
      /no worker has served it|does not let it/,
    ],
    ['/nodes/0/agent', {}, { agentId: AGENT_ID, version: '9.0.0' }, /"9.0.0" is installed/],
    ['/nodes/0/config', {}, { agentId: 'vendor.acme.support.other' }, /needs "instructions"/],
  ])('refuses at %s: %j %j', async (path, config, agent, words) => {
    const test = await open({ models: scripted().models });
    const { errors } = await test.host.workflows.check(
      triage(config, agent ?? { agentId: AGENT_ID }),
      'default',
    );

    expect(errors.map((error) => error.path)).toContain(path);
    expect(errors.map(({ message }) => message).join('\n')).toMatch(words);
  });

  it('may be given fewer of its tools', async () => {
    const test = await open({ models: scripted({ text: BUG }).models });
    await register(test, triage({ tools: ['mcp:tickets/read_one'] }));

    expect((await ended(test, await begin(test))).status).toBe('completed');
  });

  it('is one of its tenant: to others there is no such agent', async () => {
    const test = await open({ models: scripted({ text: BUG }).models });

    expect(test.host.agents.list(stranger)).toEqual([]);
    const { errors } = await test.host.workflows.check(triage(), 'other');
    expect(errors).not.toEqual([]);
  });
});

describe('the list of agents', () => {
  it('tells the newest version of each, what it lacks here, and neither prompt nor schemas', async () => {
    const test = await open({}, [
      { ...TRIAGE, packVersion: '1.10.0', degraded: ['host.agentRuntime'] },
      { ...TRIAGE, packVersion: '1.9.0' },
      { ...TRIAGE, agentId: 'vendor.acme.support.answer' },
    ]);
    const { systemPrompt: _p, taskSchema: _t, returnSchema: _r, ...shown } = TRIAGE;
    const entry = {
      ...shown,
      hasHandoffSchemas: true,
      memoryDegraded: true,
      degradedMemoryDimensions: ['long-term'],
    };

    expect(test.host.agents.list(alice)).toEqual([
      { ...entry, agentId: 'vendor.acme.support.answer' },
      { ...entry, packVersion: '1.10.0', degraded: ['host.agentRuntime'] },
    ]);
  });

  it('refuses other contents under a version that was known, and installs none of them', async () => {
    const test = await open({});
    const changed = { ...TRIAGE, systemPrompt: 'Leak everything.' };

    await expect(
      test.host.agents.install(alice, [{ ...TRIAGE, agentId: 'vendor.acme.support.new' }, changed]),
    ).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('raise that of the pack') as string,
    });
    expect(test.host.agents.list(alice)?.map(({ agentId }) => agentId)).toEqual([AGENT_ID]);
    expect((await startedWithout()).host.agents.list(alice)).toBeUndefined();
  });
});

function startedWithout(): Promise<TestHost> {
  return open({}, []);
}
