import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HoldingProxy, openHoldingProxy } from '../testing/holding-proxy.ts';
import { freePort, type HostProcess, startHostProcess } from '../testing/host-process.ts';
import { serveHere, weft } from '../testing/served.ts';

/** Two hosts in processes of their own that call each other over A2A, and are killed. */

const KEYS = {
  ada: `weft_live_${'a'.repeat(43)}`,
  bob: `weft_live_${'b'.repeat(43)}`,
};
type Name = keyof typeof KEYS;
const OTHER: Readonly<Record<Name, Name>> = { ada: 'bob', bob: 'ada' };

let cwd: string;
const ports = { ada: 0, bob: 0 };
const hosts: Partial<Record<Name, HostProcess>> = {};
/** By which ada reaches bob. */
let proxy: HoldingProxy;
/** Told how bob's tasks stand. It answers once it may. */
let receiver: Server;
let mayAnswer = true;
const told: string[] = [];

const node = (id: string, typeId: string, config: JsonObject, inputs: JsonObject = {}) => ({
  id,
  typeId,
  name: id,
  position: { x: 0, y: 0 },
  config,
  inputs,
});

const workflow = (
  id: string,
  nodes: ReturnType<typeof node>[],
  variables: JsonObject[] = [],
): JsonObject => ({
  id,
  name: id,
  version: '1.0.0',
  nodes: [...nodes],
  edges: nodes.slice(1).map(({ id: targetNodeId }, index) => ({
    id: `e${index}`,
    sourceNodeId: nodes[index]?.id ?? '',
    targetNodeId,
  })),
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables,
  metadata: { weft: { a2a: true } },
  settings: {},
});

const invoke = (skill: string, input: JsonObject = {}) => node('call', 'core.a2a.invoke', { skill, input });

const WORKFLOWS: Readonly<Record<Name, readonly JsonObject[]>> = {
  ada: [
    workflow('plan', [invoke('refund', { order: '41' })]),
    workflow('hold', [invoke('wait')]),
    workflow('ping', [invoke('pong')]),
    workflow(
      'price',
      [node('look', 'core.identity', {}, { order: { type: 'variable', variableName: 'order' } })],
      [{ name: 'order', type: 'string', required: true }],
    ),
  ],
  bob: [
    workflow(
      'refund',
      [invoke('price', { order: '41' }), node('gate', 'core.approvalGate', { title: 'Refund order 41?' })],
      [{ name: 'order', type: 'string', required: true }],
    ),
    workflow('pong', [invoke('ping')]),
    workflow('wait', [
      node('outside', 'core.interrupt', {
        kind: 'external-event',
        data: { eventType: 'parcel', correlation: { id: '7' } },
      }),
    ]),
  ],
};

const url = (name: Name) => `http://127.0.0.1:${ports[name]}`;

async function call(name: Name, method: string, path: string, body?: unknown): Promise<JsonObject> {
  const response = await fetch(`${url(name)}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${KEYS[name]}`,
      'content-type': 'application/json',
      'a2a-version': '1.0',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as JsonObject;
}

async function start(name: Name): Promise<void> {
  hosts[name] = await startHostProcess({
    dataFolder: join(cwd, name),
    port: ports[name],
    apiKey: KEYS[name],
    flags: ['--config', join(cwd, `${name}.json`)],
  });
}

/** The other's key is there before the config file names it. */
async function prepare(name: Name): Promise<void> {
  const served = await serveHere(cwd, ['--data', name], { WEFT_API_KEY: KEYS[name] });
  const env = { WEFT_API_KEY: KEYS[name], PEER_KEY: KEYS[OTHER[name]] };
  await weft(cwd, ['secrets', 'set', 'peer-key', '--from-env', 'PEER_KEY', '--url', served.url], env);
  for (const body of WORKFLOWS[name])
    await fetch(`${served.url}/v1/host/weft/workflows`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEYS[name]}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await served.stop();
  const peers = {
    [OTHER[name]]: { url: name === 'ada' ? proxy.url : url('ada'), apiKey: 'secret:peer-key' },
  };
  await writeFile(
    join(cwd, `${name}.json`),
    JSON.stringify({
      a2a: { peers },
      ...(name === 'bob' && { 'public-url': proxy.url }),
      'claim-ttl-ms': 2_000,
      'heartbeat-ms': 500,
      'delivery-timeout-ms': 500,
      'delivery-lease-ms': 1_500,
      'allow-egress': [`127.0.0.1:${(receiver.address() as AddressInfo).port}`],
    }),
  );
}

beforeAll(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), 'weft-two-')));
  proxy = await openHoldingProxy(() => url('bob'));
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (!mayAnswer) return;
      told.push(Buffer.concat(chunks).toString());
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  for (const name of ['ada', 'bob'] as const) ports[name] = await freePort();
  await Promise.all([prepare('ada'), prepare('bob')]);
  await Promise.all([start('ada'), start('bob')]);
}, 60_000);

afterAll(async () => {
  await Promise.all(Object.values(hosts).map((host) => host.stop()));
  await proxy?.close();
  receiver?.closeAllConnections();
  receiver?.close();
  await rm(cwd, { recursive: true, force: true });
});

const begin = async (name: Name, workflowId: string) =>
  String((await call(name, 'POST', '/v1/runs', { workflowId }))['runId']);
const reaches = (name: Name, runId: string, status: string) =>
  expect.poll(() => call(name, 'GET', `/v1/runs/${runId}`), { timeout: 20_000 }).toMatchObject({ status });
const runsOf = async (name: Name, workflowId: string) =>
  (await call(name, 'GET', `/v1/host/weft/runs?workflowId=${workflowId}`))['runs'] as unknown as JsonObject[];

describe('two hosts that call each other', () => {
  it('do a task together, and a question of the one is answered in the inbox of the other', async () => {
    const runId = await begin('ada', 'plan');
    await reaches('ada', runId, 'waiting-input');
    const asked = JSON.stringify(await call('ada', 'GET', `/v1/runs/${runId}`));

    await call('ada', 'POST', `/v1/runs/${runId}/interrupts/call`, {
      resumeValue: { answers: { answer: 'accept' } },
    });

    await reaches('ada', runId, 'completed');
    const [refund] = await runsOf('bob', 'refund');
    expect(asked).toContain('Refund order 41?');
    expect(refund).toMatchObject({ status: 'completed' });
    expect(await runsOf('ada', 'price')).toMatchObject([{ status: 'completed' }]);
    const [, output] =
      /"output":(\{.*?\})/.exec(JSON.stringify(await call('ada', 'GET', `/v1/runs/${runId}/events/poll`))) ??
      [];
    expect(output).toContain('accept');
  });

  it('are both killed with the task in flight, and it is done once, and told in order (G-5)', async () => {
    const runId = await begin('ada', 'hold');
    await expect
      .poll(() => runsOf('bob', 'wait'), { timeout: 20_000 })
      .toMatchObject([{ status: 'waiting-external' }]);
    const [begun] = await runsOf('bob', 'wait');
    mayAnswer = false;
    const reached = once(receiver, 'request');
    await call('bob', 'POST', '/v1/a2a', {
      jsonrpc: '2.0',
      id: 1,
      method: 'CreateTaskPushNotificationConfig',
      params: {
        taskId: begun?.['runId'],
        url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      },
    });
    await reached;
    const steps = async () => JSON.stringify(await call('ada', 'GET', `/v1/runs/${runId}/events/poll`));
    await expect.poll(steps, { timeout: 20_000 }).toContain('follow-1');
    await Promise.all([hosts.ada?.kill(), hosts.bob?.kill()]);
    mayAnswer = true;

    await Promise.all([start('ada'), start('bob')]);
    const [remote] = await runsOf('bob', 'wait');
    await call('bob', 'POST', `/v1/runs/${String(remote?.['runId'])}/interrupts/outside`, {
      resumeValue: { id: '7', weight: 3 },
    });

    await reaches('ada', runId, 'completed');
    expect(await runsOf('bob', 'wait')).toHaveLength(1);
    await expect.poll(() => told.at(-1), { timeout: 20_000 }).toContain('TASK_STATE_COMPLETED');
    expect(told[0]).toContain('TASK_STATE_WORKING');
  });

  it('do not call each other in a circle for ever (G-6)', async () => {
    const runId = await begin('ada', 'ping');

    await reaches('ada', runId, 'failed');

    const counts = [await runsOf('ada', 'ping'), await runsOf('bob', 'pong')].map(({ length }) => length);
    expect(counts).toEqual([5, 4]);
    expect(await runsOf('ada', 'ping')).toMatchObject([{ errorCode: 'peer_loop' }, {}, {}, {}, {}]);
  });

  it('tell each other when a run is cancelled', async () => {
    const runId = await begin('ada', 'hold');
    await expect.poll(() => runsOf('bob', 'wait'), { timeout: 20_000 }).toHaveLength(2);
    await expect
      .poll(async () => JSON.stringify(await call('ada', 'GET', `/v1/runs/${runId}/events/poll`)), {
        timeout: 20_000,
      })
      .toContain('follow-1');

    await call('ada', 'POST', `/v1/runs/${runId}/cancel`, {});

    await reaches('ada', runId, 'cancelled');
    const [remote] = await runsOf('bob', 'wait');
    await reaches('bob', String(remote?.['runId']), 'cancelled');
  });

  it.each([['ada'], ['bob']] as const)(
    'do a task once although %s is killed with the message in flight (G-1)',
    async (killed) => {
      const before = (await runsOf('bob', 'wait')).length;
      const answered = proxy.hold('"wait"');
      const runId = await begin('ada', 'hold');
      await answered;

      await hosts[killed]?.kill();
      await start(killed);

      if (killed === 'bob') proxy.drop();
      const steps = async () => JSON.stringify(await call('ada', 'GET', `/v1/runs/${runId}/events/poll`));
      await expect.poll(steps, { timeout: 20_000 }).toContain('follow-1');
      const [remote] = await runsOf('bob', 'wait');
      await call('bob', 'POST', `/v1/runs/${String(remote?.['runId'])}/interrupts/outside`, {
        resumeValue: { id: '7' },
      });
      await reaches('ada', runId, 'completed');
      expect(await runsOf('bob', 'wait')).toHaveLength(before + 1);
    },
  );
});
