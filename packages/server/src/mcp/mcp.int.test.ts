import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { openMemoryStore } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../start-server.ts';
import { type Harness, openHarness } from '../testing/harness.ts';

/** The official client, over a real connection. */

let at: Harness;
let server: RunningServer;
const clients: Client[] = [];

const node = (id: string, typeId: string, config: JsonObject = {}, inputs: JsonObject = {}) => ({
  id,
  typeId,
  name: id,
  position: { x: 0, y: 0 },
  config,
  inputs,
});

const workflow = (id: string, nodes: JsonObject[], more: JsonObject = {}): JsonObject => ({
  id,
  name: id,
  version: '1.0.0',
  nodes,
  edges: [],
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables: [],
  metadata: { weft: { mcp: true } },
  settings: {},
  ...more,
});

const GREET = workflow(
  'greet',
  [node('say', 'core.identity', {}, { text: { type: 'variable', variableName: 'name' } })],
  {
    description: 'Greets a person.',
    variables: [
      { name: 'name', type: 'string', required: true, description: 'Who is greeted.' },
      { name: 'times', type: 'number', defaultValue: 1 },
    ],
  },
);
const APPROVE = workflow('order-approve', [node('gate', 'core.approvalGate', { title: 'Order 7 laptops?' })]);
const SLOW = workflow('slow', [node('wait', 'core.delay', { ms: 600_000 })]);
const HIDDEN = workflow('hidden', [node('only', 'core.noop')], { metadata: {} });
const BROKEN = workflow('broken', [
  node('fall', 'core.fail', { code: 'out_of_stock', message: 'None left.' }),
]);

async function connect(key = at.key, elicits?: () => { action: 'accept' | 'decline'; content?: JsonObject }) {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: elicits === undefined ? {} : { elicitation: {} } },
  );
  if (elicits !== undefined) client.setRequestHandler(ElicitRequestSchema, async () => elicits() as never);
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/v1/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  clients.push(client);
  return { client, transport };
}

const call = async (client: Client, name: string, given: JsonObject = {}, options = {}) =>
  (await client.callTool({ name, arguments: given }, undefined, options)) as {
    isError?: boolean;
    structuredContent: JsonObject;
  };

beforeEach(async () => {
  at = await openHarness({}, undefined, undefined, { store: openMemoryStore() });
  server = await startServer(at.app, { host: '127.0.0.1', port: 0 });
  for (const body of [GREET, APPROVE, SLOW, HIDDEN, BROKEN]) {
    const answer = await at.call('POST', '/v1/host/weft/workflows', { body });
    if (answer.status !== 201) throw new Error(answer.text);
  }
});

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await server.shutdown();
  await at.close();
});

describe('an assistant', () => {
  it('is offered the workflows that ask for it, with their inputs, and how to follow runs', async () => {
    const { client } = await connect();

    const { tools } = await client.listTools();

    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'broken',
      'greet',
      'order-approve',
      'slow',
      'weft_answer',
      'weft_run_status',
    ]);
    expect(tools.find(({ name }) => name === 'greet')).toMatchObject({
      description: 'Greets a person.',
      inputSchema: {
        type: 'object',
        properties: { name: { type: 'string', description: 'Who is greeted.' }, times: { default: 1 } },
        required: ['name'],
        additionalProperties: false,
      },
    });
  });

  it('runs one and gets its progress and its outputs', async () => {
    const { client } = await connect();
    const progress: (string | undefined)[] = [];

    const answer = await call(
      client,
      'greet',
      { name: 'Ada' },
      { onprogress: ({ message }: { message?: string }) => progress.push(message) },
    );

    expect(answer).toMatchObject({
      isError: false,
      structuredContent: { status: 'completed', outputs: { text: 'Ada' } },
    });
    expect(progress).toContain('say completed');
  });

  it.each([
    [{}, /arguments\.name: missing/],
    [{ name: 7 }, /arguments\.name: must be of type string/],
    [{ name: 'Ada', nme: 'x' }, /arguments\.nme: unknown; there are name, times/],
  ])('gets what is wrong with the arguments %j, and nothing is started', async (given, problem) => {
    const { client } = await connect();

    await expect(call(client, 'greet', given)).rejects.toThrow(problem);

    expect((await at.call('GET', '/v1/host/weft/runs')).json.runs).toEqual([]);
  });

  it.each(['hidden', 'nothing', '__proto__', 'constructor'])('has no tool %s', async (name) => {
    const { client } = await connect();

    await expect(call(client, name)).rejects.toThrow(/has no tool/);
  });

  it('gets the error of a run that fails', async () => {
    const { client } = await connect();

    expect(await call(client, 'broken')).toMatchObject({
      isError: true,
      structuredContent: { status: 'failed', error: { code: 'out_of_stock' } },
    });
  });

  it('gets the question of a run that waits, without its token, and answers it later', async () => {
    const { client } = await connect();

    const asked = await call(client, 'order-approve');
    const { runId } = asked.structuredContent;
    const still = await call(client, 'weft_run_status', { runId: String(runId) });
    const answered = await call(client, 'weft_answer', {
      runId: String(runId),
      answer: { action: 'accept' },
      waitSeconds: 10,
    });

    expect(asked.structuredContent).toMatchObject({
      status: 'waiting-approval',
      question: { nodeId: 'gate', kind: 'approval', data: { title: 'Order 7 laptops?' } },
    });
    expect(JSON.stringify([asked, still])).not.toContain('interruptToken');
    expect(still.structuredContent).toMatchObject({ status: 'waiting-approval' });
    expect(answered.structuredContent).toMatchObject({ status: 'completed' });
  });

  it('has the person asked, where the client can', async () => {
    const { client } = await connect(at.key, () => ({ action: 'accept', content: { action: 'accept' } }));

    expect(await call(client, 'order-approve')).toMatchObject({
      structuredContent: { status: 'completed' },
    });
  });

  it('hands the question on when the person does not say', async () => {
    const { client } = await connect(at.key, () => ({ action: 'decline' }));

    expect(await call(client, 'order-approve')).toMatchObject({
      structuredContent: { status: 'waiting-approval', question: { nodeId: 'gate' } },
    });
  });

  it('may not answer with a key that may not', async () => {
    const { client } = await connect(await at.keyWithout('approvals:respond'));
    const { structuredContent } = await call(client, 'order-approve');

    const answered = await call(client, 'weft_answer', {
      runId: String(structuredContent['runId']),
      answer: { action: 'accept' },
    });

    expect(answered).toMatchObject({ isError: true, structuredContent: { error: { code: 'forbidden' } } });
    await at.reaches(String(structuredContent['runId']), 'waiting-approval');
  });

  it('cancels the run with its request', async () => {
    const { client } = await connect();
    const controller = new AbortController();

    const called = call(client, 'slow', {}, { signal: controller.signal }).catch((error: unknown) => error);
    const runId = await firstRun();
    controller.abort('not needed');

    await called;
    await at.reaches(runId, 'cancelled');
  });

  it('that leaves leaves the run', async () => {
    const { client, transport } = await connect();
    const called = call(client, 'slow').catch((error: unknown) => error);
    const runId = await firstRun();

    await transport.terminateSession();
    await client.close();

    await called;
    await at.reaches(runId, 'running');
  });

  it('reads runs, comparisons, bundles and definitions', async () => {
    const { client } = await connect();
    const [one, two] = [
      await call(client, 'greet', { name: 'Ada' }),
      await call(client, 'greet', { name: 'Bob' }),
    ];
    const [a, b] = [String(one.structuredContent['runId']), String(two.structuredContent['runId'])];
    const read = async (uri: string) => {
      const { contents } = await client.readResource({ uri });
      return JSON.parse((contents[0] as { text: string }).text) as JsonObject;
    };

    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(4);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain(`weft://runs/${a}`);
    expect(await read(`weft://runs/${a}`)).toMatchObject({ runId: a, status: 'completed' });
    expect(await read(`weft://runs/${a}/diff/${b}`)).toMatchObject({ a, b });
    expect(JSON.stringify(await read(`weft://runs/${a}/bundle`))).toContain(a);
    expect(await read('weft://workflows/greet')).toMatchObject({ id: 'greet' });
    await expect(read('weft://runs/unknown')).rejects.toThrow();
    await expect(read('file:///etc/passwd')).rejects.toThrow(/no resource/);
  });

  it('of another tenant sees none of it', async () => {
    const { client } = await connect();
    const { structuredContent } = await call(client, 'greet', { name: 'Ada' });
    const { client: other } = await connect(at.otherTenantKey);

    expect((await other.listTools()).tools.map(({ name }) => name)).toEqual([
      'weft_run_status',
      'weft_answer',
    ]);
    expect(await call(other, 'weft_run_status', { runId: String(structuredContent['runId']) })).toMatchObject(
      {
        isError: true,
        structuredContent: { error: { code: 'not_found' } },
      },
    );
  });
});

describe('the door', () => {
  const post = (headers: Record<string, string>, body = '{}') =>
    fetch(`${server.url}/v1/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${at.key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body,
    });

  it('wants a key, a session of that key, and no page of another origin', async () => {
    const { transport } = await connect();
    const session = { 'mcp-session-id': transport.sessionId ?? '' };
    const { key } = await at.createKey({ scopes: ['manifest:read'] });

    expect((await post({ authorization: 'Bearer no' })).status).toBe(401);
    expect((await post({ ...session, authorization: `Bearer ${key}` })).status).toBe(404);
    expect((await post({ ...session, authorization: `Bearer ${at.otherTenantKey}` })).status).toBe(404);
    expect((await post({ 'mcp-session-id': 'unknown' })).status).toBe(404);
    expect((await post({ origin: 'https://evil.example' })).status).toBe(403);
  });

  it('lets no more than 64 requests of a key wait', async () => {
    const { client } = await connect();
    const { runId } = await at.start('slow');
    const leaving = Array.from({ length: 65 }, () => new AbortController());

    const answers = leaving.map(({ signal }) =>
      call(client, 'weft_run_status', { runId, waitSeconds: 50 }, { signal }).catch(String),
    );

    expect(await Promise.race(answers)).toMatch(/64 requests of this key wait already/);
    for (const each of leaving) each.abort();
    await Promise.all(answers);
  });

  it('reads one definition for a call, however many workflows there are', async () => {
    let reads = 0;
    const { get } = at.host.workflows;
    Object.assign(at.host.workflows, {
      get: (...asked: Parameters<typeof get>) => {
        reads += 1;
        return get(...asked);
      },
    });
    const { client } = await connect();

    await call(client, 'greet', { name: 'Ada' });

    expect(reads).toBe(1);
  });

  it.each([
    '{',
    '[]',
    '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]',
    '"x"',
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":1,"method":"no/such"}',
  ])('refuses what is no message: %s', async (body) => {
    const { transport } = await connect();

    const answer = await post({ 'mcp-session-id': transport.sessionId ?? '' }, body);

    expect([200, 202, 400]).toContain(answer.status);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    await answer.body?.cancel();
  });
});

describe('parameters that are none', () => {
  it.each([
    ['tools/call', {}, 'params.name: '],
    ['tools/call', { name: 'greet', arguments: [1] }, 'params.arguments: '],
    ['resources/read', {}, 'params.uri: '],
    ['prompts/get', { name: 7 }, 'params.name: '],
  ])('of %s, %j, are the client’s mistake', async (method, params, problem) => {
    const { transport } = await connect();

    const answer = await fetch(`${server.url}/v1/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${at.key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': transport.sessionId ?? '',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });

    const text = await answer.text();
    expect(text).toContain('"code":-32602');
    expect(text).toContain(problem);
  });
});

describe('the prompts of a session', () => {
  const QUESTION = {
    templateId: 'order-question',
    version: '1.0.0',
    kind: 'user',
    description: 'Asks for an order.',
    text: 'Where are the {{count}} pieces of order {{order}}? {{note}}',
    variables: [
      { name: 'order', type: 'string', required: true, description: 'Its number.' },
      { name: 'count', type: 'number', required: false, defaultValue: 1 },
    ],
  };

  it('are the questions of the prompt library, filled with the arguments', async () => {
    for (const template of [QUESTION, { ...QUESTION, templateId: 'rules', kind: 'system' }])
      expect(await at.call('POST', '/v1/prompts', { body: template })).toMatchObject({ status: 201 });
    const { client } = await connect();

    const { prompts } = await client.listPrompts();
    const { messages } = await client.getPrompt({
      name: 'order-question',
      arguments: { order: 'A-17', count: '2' },
    });

    expect(prompts).toEqual([
      {
        name: 'order-question',
        description: 'Asks for an order.',
        arguments: [
          { name: 'order', description: 'Its number.', required: true },
          { name: 'count', required: false },
          { name: 'note', required: false },
        ],
      },
    ]);
    expect(messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'Where are the 2 pieces of order A-17? ' } },
    ]);
  });

  it.each([
    ['rules', {}, /no prompt "rules"/],
    ['order-question', {}, /order/],
    ['order-question', { order: 'x', count: 'many' }, /"count" is a number/],
    ['order-question', { order: 'x', other: 'y' }, /other/],
  ])('refuse what does not fit: %s %o', async (name, given, message) => {
    for (const template of [QUESTION, { ...QUESTION, templateId: 'rules', kind: 'system' }])
      await at.call('POST', '/v1/prompts', { body: template });
    const { client } = await connect();

    await expect(client.getPrompt({ name, arguments: given })).rejects.toThrow(message);
  });

  it('are not for a key without the scope', async () => {
    const { client } = await connect(await at.keyWithout('prompts:read'));

    await expect(client.listPrompts()).rejects.toThrow(/prompts:read/);
  });
});

async function firstRun(): Promise<string> {
  for (let tries = 0; tries < 500; tries += 1) {
    const { runs } = (await at.call('GET', '/v1/host/weft/runs')).json as unknown as {
      runs: { runId: string; status: string }[];
    };
    if (runs[0]?.status === 'running') return runs[0].runId;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('no run was started');
}
