import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect } from '../../connecting/connection.ts';
import { recordedIo } from '../../testing/recorded-io.ts';
import { type Served, serveHere, weft } from '../../testing/served.ts';

/** The whole way: a host on SQLite, a receiver on this machine that the operator has admitted, and the command line. */

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const received: Received[] = [];
let isDown = false;
let receiver: Server;
let base: string;
let cwd: string;
let served: Served;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    if (isDown) {
      request.socket.destroy();
      return;
    }
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  cwd = await mkdtemp(join(tmpdir(), 'weft-webhooks-'));
  await mkdir(join(cwd, 'workflows'));
  for (const [id, typeId] of [
    ['noop', 'core.noop'],
    ['gate', 'core.approvalGate'],
  ] as const) {
    await writeFile(join(cwd, 'workflows', `${id}.json`), JSON.stringify(workflow(id, typeId)));
  }
  served = await start();
});
afterAll(async () => {
  await served.stop();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
  await rm(cwd, { recursive: true, force: true });
});
beforeEach(() => {
  received.length = 0;
  isDown = false;
});

const start = (): Promise<Served> =>
  serveHere(cwd, ['--workflows', 'workflows', '--allow-egress', base.replace('http://', '')]);

function workflow(id: string, typeId: string): object {
  return { id, version: '1.0', nodes: [{ id: 'only', typeId }] };
}

async function until(condition: () => boolean): Promise<void> {
  await vi.waitUntil(condition, { interval: 5, timeout: 20_000 });
}
const at = (path: string): Received[] => received.filter((each) => each.path === path);

function isSigned(secret: string, { headers, body }: Received): boolean {
  const mac = createHmac('sha256', secret).update(`${String(headers['x-openwop-timestamp'])}.${body}`);
  return headers['x-openwop-signature'] === `sha256=${mac.digest('hex')}`;
}

describe('weft webhooks', () => {
  it('adds one, shows it without its secret, and removes it', async () => {
    const added = await weft(cwd, ['webhooks', 'add', `${base}/one`, '--events', 'run.completed', '--json']);
    const { webhookId, secret } = JSON.parse(added.out) as { webhookId: string; secret: string };
    await weft(cwd, ['run', 'noop']);
    await until(() => at('/one').length === 1);

    const listed = await weft(cwd, ['webhooks', 'ls']);
    const removed = await weft(cwd, ['webhooks', 'rm', webhookId]);
    const again = await weft(cwd, ['webhooks', 'rm', webhookId]);

    expect(at('/one').every((each) => isSigned(secret, each))).toBe(true);
    expect(listed.out).toContain(webhookId);
    expect(listed.out).not.toContain(secret);
    expect([removed.code, again.code]).toEqual([0, 3]);
    expect((await weft(cwd, ['webhooks', 'dead', '--json'])).out).toBe('');
  });

  it('says what is missing or refused', async () => {
    const noEvents = await weft(cwd, ['webhooks', 'add', `${base}/one`]);
    const refused = await weft(cwd, ['webhooks', 'add', 'https://localhost/', '--events', '*']);
    const unknown = await weft(cwd, ['webhooks', 'replay', 'nothing']);

    expect([noEvents.code, refused.code, unknown.code]).toEqual([2, 3, 3]);
    expect(noEvents.err).toContain('--events');
    expect(refused.err).toContain('--allow-egress');
  });
});

describe('deliveries', () => {
  it('that could not be made before the host stopped are made after it has started again', async () => {
    const added = await weft(cwd, ['webhooks', 'add', `${base}/two`, '--events', '*', '--json']);
    const { webhookId } = JSON.parse(added.out) as { webhookId: string };
    isDown = true;
    await weft(cwd, ['run', 'noop']);
    await served.stop();
    isDown = false;

    served = await start();

    const sequence = ({ body }: Received): number =>
      (JSON.parse(body) as { event: { sequence: number } }).event.sequence;
    await until(() => at('/two').some(({ headers }) => headers['openwop-event-type'] === 'run.completed'));
    const order = at('/two').map(sequence);
    expect(order).toEqual(order.map((_, index) => index));
    await weft(cwd, ['webhooks', 'rm', webhookId]);
  });
});

describe('a callback', () => {
  it('is signed with the tenant’s secret, and its token answers the question', async () => {
    const { client } = await connect(recordedIo({ cwd, env: {} }), { url: served.url, data: undefined });
    const { runId } = await client.runs.create({ workflowId: 'gate', callbackUrl: `${base}/desk` });
    await until(() => at('/desk').length === 1);
    const secret = (await weft(cwd, ['webhooks', 'secret'])).out.trim();
    const [asked] = at('/desk');
    if (asked === undefined) throw new Error('nothing was asked');

    const { interruptToken } = JSON.parse(asked.body) as { interruptToken: string };
    const answer = await fetch(`${served.url}/v1/interrupts/${interruptToken}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resumeValue: { action: 'accept' } }),
    });

    expect(isSigned(secret, asked)).toBe(true);
    expect(answer.status).toBe(200);
    await vi.waitUntil(async () => (await client.runs.get(runId)).status === 'completed', {
      timeout: 20_000,
    });
  });
});
