import { type Message, Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { openMemoryStore } from '@weft/engine';
import type { Json, JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../start-server.ts';
import { type Harness, openHarness } from '../testing/harness.ts';

/** The SDK's own client, over a real connection. */

let at: Harness;
let server: RunningServer;
let messages = 0;

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
  metadata: { weft: { a2a: true } },
  settings: {},
  ...more,
});

const WORKFLOWS = [
  workflow(
    'greet',
    [node('say', 'core.identity', {}, { text: { type: 'variable', variableName: 'name' } })],
    {
      description: 'Greets a person.',
      variables: [{ name: 'name', type: 'string', required: true }],
    },
  ),
  workflow('order', [node('gate', 'core.approvalGate', { title: 'Order 7 laptops?' })]),
  workflow('ask', [
    node('gate', 'core.clarificationGate', { questions: [{ id: 'colour', question: 'Which colour?' }] }),
  ]),
  workflow('slow', [node('wait', 'core.delay', { ms: 600_000 })]),
  workflow('hidden', [node('only', 'core.noop')], { metadata: { weft: { mcp: true } } }),
  workflow('broken', [node('fall', 'core.fail', { code: 'out_of_stock', message: 'None left.' })]),
];

beforeAll(async () => {
  at = await openHarness({}, undefined, undefined, { store: openMemoryStore() });
  server = await startServer(at.app, { host: '127.0.0.1', port: 0 });
  for (const body of WORKFLOWS) {
    const answer = await at.call('POST', '/v1/host/weft/workflows', { body });
    if (answer.status !== 201) throw new Error(answer.text);
  }
});

afterAll(async () => {
  await server?.shutdown();
  await at?.close();
});

async function connect(version: '1.0' | '0.3', key = at.key): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${key}`);
    // A client of 0.3 does not know the header.
    if (version === '0.3') headers.delete('a2a-version');
    return fetch(input, { ...init, headers });
  };
  const legacyCompat = { enabled: true };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl, legacyCompat }),
  });
  return factory.createFromUrl(server.url);
}

function message(skillId: string | undefined, content: Json, more: Partial<Message> = {}) {
  messages += 1;
  const isText = typeof content === 'string';
  const said: Message = {
    messageId: `m-${messages}`,
    taskId: '',
    contextId: '',
    role: Role.ROLE_USER,
    parts: [
      {
        content: isText ? { $case: 'text', value: content } : { $case: 'data', value: content },
        metadata: undefined,
        filename: '',
        mediaType: '',
      },
    ],
    metadata: skillId === undefined ? undefined : { skillId },
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
  return { tenant: '', message: said, configuration: undefined, metadata: undefined };
}

const send = async (client: Client, ...given: Parameters<typeof message>) =>
  (await client.sendMessage(message(...given))) as Task;
const stateOf = ({ status }: Task) => status?.state;
const get = (client: Client, id: string) => client.getTask({ tenant: '', id });
const runCount = async () =>
  ((await at.call('GET', '/v1/host/weft/runs')).json.runs as unknown as unknown[]).length;

describe.each(['1.0', '0.3'] as const)('an agent that speaks A2A %s', (version) => {
  it('runs a skill as a task that is a run, and gets its outputs', async () => {
    const client = await connect(version);

    const task = await send(client, 'greet', { name: 'Ada' });
    const said = await send(client, 'greet', 'Bob');

    expect(stateOf(task)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts[0]?.parts[0]?.content).toMatchObject({ value: { text: 'Ada' } });
    expect(said.artifacts[0]?.parts[0]?.content).toMatchObject({ value: { text: 'Bob' } });
    expect((await at.call('GET', `/v1/runs/${task.id}`)).json).toMatchObject({ status: 'completed' });
    expect(await get(client, task.id)).toMatchObject({
      id: task.id,
      status: { state: TaskState.TASK_STATE_COMPLETED },
    });
  });

  it('is asked, and continues the task by its answer', async () => {
    const client = await connect(version);

    const asked = await send(client, 'ask', {});
    const approval = await send(client, 'order', {});
    const answered = await send(client, undefined, 'red', { taskId: asked.id, contextId: asked.contextId });
    const accepted = await send(client, undefined, 'accept', { taskId: approval.id });

    expect(stateOf(asked)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(asked.status?.message?.parts[0]?.content).toMatchObject({ value: 'Which colour?' });
    expect(JSON.stringify(approval)).not.toContain('interruptToken');
    expect(answered).toMatchObject({ id: asked.id, status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(answered.artifacts[0]?.parts[0]?.content).toMatchObject({ value: { answers: { colour: 'red' } } });
    expect(stateOf(accepted)).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('follows a task as it goes, and cancels one', async () => {
    const client = await connect(version);
    const kinds: (string | undefined)[] = [];
    let last: StreamResponse | undefined;

    for await (const each of client.sendMessageStream(message('greet', { name: 'Eve' }))) {
      kinds.push(each.payload?.$case);
      last = each;
    }
    const stream = client.sendMessageStream(message('slow', {}));
    const first = await stream.next();
    const begun = first.value?.payload?.value as Task;
    const cancelled = await client.cancelTask({ tenant: '', id: begun.id, metadata: undefined });
    const rest: StreamResponse[] = [];
    for await (const each of stream) rest.push(each);

    expect(kinds[0]).toBe('task');
    expect(last?.payload?.value).toMatchObject({ status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(stateOf(cancelled)).toBe(TaskState.TASK_STATE_CANCELED);
    expect(rest.at(-1)?.payload?.value).toMatchObject({ status: { state: TaskState.TASK_STATE_CANCELED } });
    await at.reaches(begun.id, 'cancelled');
  });

  it('sends a message again whose answer it has missed, and begins nothing twice', async () => {
    const client = await connect(version);
    const missed = message('ask', {});
    const first = (await client.sendMessage(missed)) as Task;
    const reply = message(undefined, 'blue', { taskId: first.id });
    await client.sendMessage(reply);
    const before = await runCount();

    const again = (await client.sendMessage(missed)) as Task;
    const replied = (await client.sendMessage(reply)) as Task;

    expect([again.id, replied.id]).toEqual([first.id, first.id]);
    expect(stateOf(replied)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(await runCount()).toBe(before);
    missed.message.parts = message('ask', { other: 1 }).message.parts;
    await expect(client.sendMessage(missed)).rejects.toThrow();
  });

  it.each<[string, string | undefined, Json, Partial<Message>, RegExp]>([
    ['an unknown skill', 'hidden', {}, {}, /skillId: must name a skill of the card; there are .*greet/],
    ['no skill', undefined, {}, {}, /skillId/],
    ['a wrong input', 'greet', { nme: 'x' }, {}, /inputs\.nme: unknown/],
    ['a missing input', 'greet', {}, {}, /inputs\.name: missing/],
    ['a text where none is expected', 'slow', 'hi', {}, /Send a data part/],
    ['an unknown task', undefined, 'hi', { taskId: 'nothing' }, /[Nn]o (run|task) with this id/],
    ['an id that is none', 'greet', { name: 'x' }, { messageId: 'x'.repeat(200) }, /messageId/],
  ])('learns what is wrong with %s, and nothing is started', async (_, skillId, content, more, problem) => {
    const client = await connect(version);
    const before = await runCount();

    await expect(send(client, skillId, content, more)).rejects.toThrow(problem);

    expect(await runCount()).toBe(before);
  });

  it('gets the error of a run that fails, and nothing by a key that may not', async () => {
    const client = await connect(version);
    const reader = await connect(version, await at.keyWithout('runs:create'));

    const failed = await send(client, 'broken', {});

    expect(stateOf(failed)).toBe(TaskState.TASK_STATE_FAILED);
    expect(failed.status?.message?.parts[0]?.content).toMatchObject({ value: 'out_of_stock: None left.' });
    await expect(send(reader, 'greet', { name: 'x' })).rejects.toThrow(/runs:create/);
    await expect(client.cancelTask({ tenant: '', id: failed.id, metadata: undefined })).rejects.toThrow();
  });
});

describe('the card', () => {
  const card = async (headers: Record<string, string>, path = '/.well-known/agent-card.json') => {
    const response = await fetch(`${server.url}${path}`, { headers });
    return { status: response.status, json: (await response.json()) as JsonObject };
  };

  it('names the skills to those who have a key, in either version, and to others where the agent is', async () => {
    const authorization = `Bearer ${at.key}`;

    const open = await card({ 'a2a-version': '1.0' });
    const keyed = await card({ 'a2a-version': '1.0', authorization });
    const legacy = await card({ authorization }, '/v1/a2a/agent.json');
    const wrong = await card({ authorization: 'Bearer nonsense' });

    expect(open.json).toMatchObject({ supportedInterfaces: [{ url: `${server.url}/v1/a2a` }, {}] });
    expect(open.json['skills'] ?? []).toEqual([]);
    expect((keyed.json['skills'] as JsonObject[]).map(({ id }) => String(id)).toSorted()).toEqual([
      'ask',
      'broken',
      'greet',
      'order',
      'slow',
    ]);
    expect(legacy.json).toMatchObject({ url: `${server.url}/v1/a2a`, preferredTransport: 'JSONRPC' });
    expect(wrong.status).toBe(401);
  });

  it('lists tasks by their context', async () => {
    const client = await connect('1.0');
    const { id } = await send(client, 'greet', { name: 'Ada' }, { contextId: 'talk-7' });

    const { tasks } = await client.listTasks({
      tenant: '',
      contextId: 'talk-7',
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    });

    expect(tasks.map((task) => [task.id, task.contextId])).toEqual([[id, 'talk-7']]);
  });
});

describe('a request that is no request', () => {
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}/v1/a2a`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'a2a-version': '1.0',
        authorization: `Bearer ${at.key}`,
        ...headers,
      },
    });
    return { status: response.status, json: (await response.json()) as JsonObject };
  };
  const said = (more: JsonObject) => {
    const message = { messageId: 'odd', role: 'ROLE_USER', metadata: { skillId: 'slow' }, ...more };
    return { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
  };
  const FAR = { skillId: 'slow', 'urn:weft:a2a:hops': 9 };
  const listing = (params: JsonObject) => ({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params });
  const GET = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } });

  it.each<[string, string, Record<string, string>, number]>([
    ['no JSON', '{', {}, 400],
    ['a list', '[]', {}, 400],
    ['too large', JSON.stringify({ text: 'x'.repeat(2e6) }), {}, 413],
    ['without a key', GET, { authorization: '' }, 401],
    ['of a page of another site', GET, { origin: 'https://evil.example' }, 403],
  ])('gets the host’s own answer: %s', async (_, body, headers, status) => {
    expect((await post(body, headers)).status).toBe(status);
  });

  it.each<[string, JsonObject, Record<string, string>, number]>([
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'Fly', params: {} }, {}, -32_601],
    ['no JSON-RPC', { id: 1 }, {}, -32_602],
    ['parameters that are none', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: [] }, {}, -32_602],
    ['an unknown task', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } }, {}, -32_001],
    ['a task that has come far', said({ parts: [{ data: {} }], metadata: FAR }), {}, -32_004],
    ['no parts', said({ parts: [] }), {}, -32_602],
    ['parts that are none', said({ parts: 'x' }), {}, -32_602],
    ['a part that is none', said({ parts: [null] }), {}, -32_602],
    ['a size that is none', listing({ pageSize: 'many' }), {}, -32_602],
    ['a context that is none', listing({ contextId: '\u0000' }), {}, -32_602],
    [
      'a push address of 0.3 that is none',
      { jsonrpc: '2.0', id: 1, method: 'tasks/pushNotificationConfig/set', params: { taskId: 'x' } },
      { 'a2a-version': '0.3' },
      -32_602,
    ],
    [
      'another version',
      { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } },
      { 'a2a-version': '7.0' },
      -32_009,
    ],
    [
      'a push address',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'CreateTaskPushNotificationConfig',
        params: { taskId: 'x', url: 'http://x' },
      },
      {},
      -32_003,
    ],
  ])('gets an error of the protocol: %s', async (_, body, headers, code) => {
    const { json } = await post(JSON.stringify(body), headers);

    expect(json).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });
});
