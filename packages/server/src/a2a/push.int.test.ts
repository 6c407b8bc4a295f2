import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openMemoryStore } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Harness, openHarness } from '../testing/harness.ts';
import { A2A_PUSHES } from './task-push-format.ts';

/** A receiver on a real socket; each test has a path of its own. */
interface Told {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: JsonObject;
}

let at: Harness;
let receiver: Server;
let origin: string;
const told: Told[] = [];
const logged: unknown[] = [];
let statusOf = (_path: string): number | Promise<number> => 200;
let count = 0;

const node = (id: string, typeId: string, config: JsonObject = {}) => ({
  id,
  typeId,
  name: id,
  position: { x: 0, y: 0 },
  config,
  inputs: {},
});
const gate = (id: string) => node(id, 'core.approvalGate', { title: `${id}?` });

const WORKFLOW = {
  id: 'two-questions',
  name: 'Two questions',
  version: '1.0.0',
  nodes: [gate('first'), gate('second')],
  edges: [{ id: 'e', sourceNodeId: 'first', targetNodeId: 'second' }],
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables: [],
  metadata: { weft: { a2a: true } },
  settings: {},
};
const QUICK = {
  ...WORKFLOW,
  id: 'quick',
  name: 'Quick',
  nodes: [node('n', 'core.noop')],
  edges: [],
};

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const text = Buffer.concat(chunks).toString();
      void Promise.resolve(statusOf(path)).then((status) => {
        if (status < 300)
          told.push({ path, headers: request.headers, text, body: JSON.parse(text) as JsonObject });
        response.writeHead(status, { location: `${origin}/elsewhere` }).end();
      });
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  at = await openHarness({}, undefined, (...entry) => void logged.push(entry), {
    store: openMemoryStore(),
    taskPushes: A2A_PUSHES,
    egressAllow: [`127.0.0.1:${port}`],
    retryScaleForTests: 20_000,
    limits: { maxTaskPushes: 2, maxTenantPushes: 3, pollMs: 20 },
  });
  for (const body of [WORKFLOW, QUICK]) {
    const answer = await at.call('POST', '/v1/host/weft/workflows', { body });
    if (answer.status !== 201) throw new Error(answer.text);
  }
});

afterEach(() => {
  statusOf = () => 200;
});

afterAll(async () => {
  await at?.close();
  receiver?.close();
});

async function ask(method: string, params: JsonObject, version = '1.0', key = at.key): Promise<JsonObject> {
  const { json } = await at.call('POST', '/v1/a2a', {
    key,
    headers: version === '1.0' ? { 'a2a-version': '1.0' } : {},
    body: { jsonrpc: '2.0', id: 1, method, params },
  });
  return json;
}

async function begin(skillId: string, taskPushNotificationConfig?: JsonObject): Promise<string> {
  const { result, error } = await ask('SendMessage', {
    message: {
      messageId: `push-${(count += 1)}`,
      role: 'ROLE_USER',
      parts: [{ data: {} }],
      metadata: { skillId },
    },
    configuration: {
      returnImmediately: true,
      ...(taskPushNotificationConfig !== undefined && { taskPushNotificationConfig }),
    },
  });
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return ((result as JsonObject)['task'] as JsonObject)['id'] as string;
}

const answer = (taskId: string) =>
  ask('SendMessage', {
    message: { messageId: `push-${(count += 1)}`, role: 'ROLE_USER', taskId, parts: [{ text: 'accept' }] },
    configuration: { returnImmediately: true },
  });
const cancel = (id: string) => ask('CancelTask', { id });
const at_ = (path: string) => told.filter((each) => each.path === path);
const states = (path: string) =>
  at_(path).map(({ body }) => ((body['task'] as JsonObject)['status'] as JsonObject)['state']);
const question = ({ body }: Told) =>
  (((body['task'] as JsonObject)['status'] as JsonObject)['message'] as JsonObject | undefined)?.['parts'];
const reaches = (path: string, ...wanted: string[]) =>
  vi.waitFor(() => expect(states(path).slice(-wanted.length)).toEqual(wanted));

describe('push notifications', () => {
  it('tell the task as it stands and then every change, in order, whatever another receiver does (G-5)', async () => {
    const id = await begin('two-questions', {
      id: 'main',
      url: `${origin}/main`,
      token: 'tok-1',
      authentication: { scheme: 'Bearer', credentials: 'cred-1' },
    });
    let attempts = 0;
    let recover = (_status: number): void => undefined;
    const outage = new Promise<number>((resolve) => (recover = resolve));
    statusOf = (path) => (path === '/down' && (attempts += 1) === 1 ? outage : 200);
    await ask('CreateTaskPushNotificationConfig', { taskId: id, id: 'down', url: `${origin}/down` });
    await reaches('/main', 'TASK_STATE_INPUT_REQUIRED');

    await answer(id);
    await vi.waitFor(() => expect(JSON.stringify(at_('/main').map(question))).toContain('second?'));
    await answer(id);
    await reaches('/main', 'TASK_STATE_COMPLETED');
    recover(503);
    await reaches('/down', 'TASK_STATE_COMPLETED');

    const { text: card } = await at.call('GET', '/.well-known/agent-card.json');
    expect(card).toContain('"pushNotifications":true');
    expect(at_('/main').at(-1)?.text).toContain('"artifactId":"outputs"');
    const order = JSON.stringify(at_('/main').map(question));
    expect(order.indexOf('first?')).toBeLessThan(order.indexOf('second?'));
    expect(new Set(states('/main').slice(0, -1))).not.toContain('TASK_STATE_COMPLETED');
    expect(at_('/main')[0]?.headers).toMatchObject({
      'content-type': 'application/a2a+json',
      'x-a2a-notification-token': 'tok-1',
      authorization: 'Bearer cred-1',
      'x-openwop-signature': expect.stringMatching(/^sha256=/),
    });
    expect(states('/down')).toContain('TASK_STATE_INPUT_REQUIRED');
    expect(at_('/down')[0]?.headers).not.toHaveProperty('authorization');
  });

  it('of a task that ends at once tell its end, and in the form of 0.3 to those who ask by it', async () => {
    await begin('quick', { url: `${origin}/quick` });
    const id = await begin('quick');
    const set = await ask(
      'tasks/pushNotificationConfig/set',
      { taskId: id, pushNotificationConfig: { url: `${origin}/legacy`, token: 't' } },
      '0.3',
    );

    await reaches('/quick', 'TASK_STATE_COMPLETED');
    await vi.waitFor(() => expect(at_('/legacy')).toHaveLength(1));

    expect(set).toMatchObject({ result: { taskId: id, pushNotificationConfig: { id } } });
    expect(at_('/legacy')[0]?.body).toMatchObject({
      kind: 'task',
      id,
      status: { state: 'completed' },
    });
  });

  it('are listed without what authenticates them, end when they are deleted, and leave no secret behind', async () => {
    const id = await begin('two-questions', {
      id: 'a',
      url: `${origin}/a`,
      token: 'tok-hidden',
      authentication: { scheme: 'Bearer', credentials: 'cred-hidden' },
    });
    await reaches('/a', 'TASK_STATE_INPUT_REQUIRED');
    const asked = { taskId: id, id: 'a' };

    const listed = await ask('ListTaskPushNotificationConfigs', { taskId: id });
    const found = await ask('GetTaskPushNotificationConfig', asked);
    const others = await ask('ListTaskPushNotificationConfigs', { taskId: id }, '1.0', at.otherTenantKey);
    await ask('DeleteTaskPushNotificationConfig', asked);
    const gone = await ask('GetTaskPushNotificationConfig', asked);
    const before = at_('/a').length;
    await answer(id);
    await cancel(id);

    const own = { id: 'a', taskId: id, url: `${origin}/a`, authentication: { scheme: 'Bearer' } };
    expect(listed).toMatchObject({ result: { configs: [own] } });
    expect(found).toMatchObject({ result: own });
    expect(others).toMatchObject({ error: { code: -32_001 } });
    expect(gone).toMatchObject({ error: { message: expect.stringMatching(/no push notification/) } });
    expect(at_('/a')).toHaveLength(before);
    const { text: events } = await at.call('GET', `/v1/runs/${id}/events/poll`);
    const seen = JSON.stringify([listed, found, logged, events]);
    expect(seen).not.toMatch(/(tok|cred)-hidden/);
  });

  it.each<[string, JsonObject, RegExp]>([
    ['an address that is not public', { url: 'http://169.254.169.254/' }, /url must begin with https/],
    ['no address', { url: '' }, /url must be an absolute https URL/],
    ['a header in a token', { url: 'https://a.example', token: 'x\r\nhost: y' }, /token: must be/],
    [
      'no credentials',
      { url: 'https://a.example', authentication: { scheme: 'Bearer' } },
      /credentials: must be/,
    ],
    [
      'a scheme that is none',
      { url: 'https://a.example', authentication: { scheme: 'a b', credentials: 'x' } },
      /scheme/,
    ],
    ['an id that is none', { url: 'https://a.example', id: 'x'.repeat(200) }, /\.id: must be a name/],
  ])('are refused with %s, and nothing is started', async (_, config, problem) => {
    const runs = async () => {
      const { json } = await at.call('GET', '/v1/host/weft/runs');
      return Array.isArray(json.runs) ? json.runs.length : -1;
    };
    const before = await runs();

    await expect(begin('quick', config)).rejects.toThrow(problem);

    expect(await runs()).toBe(before);
  });

  it('are few per task, few per tenant while tasks are open, and only for tasks', async () => {
    const set = (taskId: string, id: string) =>
      ask('CreateTaskPushNotificationConfig', { taskId, id, url: `${origin}/many` });
    const [one, two] = [await begin('two-questions'), await begin('two-questions')];
    const { runId } = await at.start('noop');
    await set(one, 'a');
    await set(one, 'b');

    const third = await set(one, 'c');
    const again = await set(one, 'b');
    await set(two, 'a');
    const fourth = await set(two, 'b');
    await cancel(one);
    const notTask = await set(runId, 'a');

    expect(third).toMatchObject({ error: { message: expect.stringMatching(/task has 2/) } });
    expect(again).toHaveProperty('result');
    expect(fourth).toMatchObject({ error: { message: expect.stringMatching(/tenant has 3/) } });
    await vi.waitFor(async () => expect(await set(two, 'b')).toHaveProperty('result'));
    expect(notTask).toMatchObject({ error: { message: expect.stringMatching(/register a webhook/) } });
    await cancel(two);
  });

  it('that are answered with a redirect are not delivered elsewhere, and end as dead deliveries', async () => {
    statusOf = (path) => (path === '/moved' ? 302 : 200);

    const id = await begin('quick', { url: `${origin}/moved` });

    await vi.waitFor(
      async () => {
        const { json } = await at.call('GET', '/v1/host/weft/deliveries');
        expect(json).toMatchObject({ deliveries: [{ kind: 'push', runId: id, reason: 'status_302' }] });
      },
      { timeout: 8_000, interval: 50 },
    );
    expect(at_('/elsewhere')).toEqual([]);
  });
});
