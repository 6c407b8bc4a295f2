import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { testServer } from '@weft/storage/postgres-test-server';
import { newAuthority } from '@weft/storage/test-certificate';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ClusterNodes, clusterNodes } from '../testing/cluster-nodes.ts';
import { plain, workflow } from '../testing/cluster-workflows.ts';

/**
 * A process is frozen while calls of its runs are on the way out; another one takes over and records that no one knows what became of
 * them. When the first one wakes, all that is needed to send them is there: they must not leave any more.
 */

const [A, B] = [0, 1];
const TTL_MS = 3_000;
const PATIENCE = { timeout: 30_000, interval: 25 };

const folder = mkdtempSync(join(tmpdir(), 'weft-late-effects-'));
const { server } = testServer();
const authority = newAuthority();
const closing: (() => unknown)[] = [];

/** Requests as the outside world saw them. */
const seen: { readonly path: string; readonly body: string }[] = [];
/** Answers that wait for the test. */
const waiting: ServerResponse[] = [];
/** Connections whose handshake waits for the test. */
const arrived: Socket[] = [];
let cluster: ClusterNodes;
/** Begins to speak TLS on a connection. */
let shake: (socket: Socket) => void = () => undefined;

async function portOf(listening: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  closing.push(() => listening.close());
  return (listening.address() as AddressInfo).port;
}

/** Called as soon as the first bytes of such a call are there. */
let onBurst = (): void => undefined;

async function note(request: IncomingMessage, answer: () => void): Promise<void> {
  if (request.url === '/burst') onBurst();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  seen.push({ path: request.url ?? '', body: Buffer.concat(chunks).toString('utf8') });
  answer();
}

const timesSeen = (path: string): number => seen.filter((each) => each.path === path).length;

/** Answers every path at once, but for `/moved`, which waits to be sent elsewhere. */
function openWorld(): Promise<number> {
  const world = createServer((request, response) => {
    void note(request, () => (request.url === '/moved' ? waiting.push(response) : response.end('{}')));
  });
  closing.push(() => world.closeAllConnections());
  return portOf(world);
}

/** Takes connections, and begins to speak TLS when the test says so. */
function openSecureWorld(): Promise<number> {
  const { certificate, key } = authority.issue('world', ['127.0.0.1']);
  const secure = createTlsServer({ cert: certificate, key }, (request, response) => {
    void note(request, () => response.end('{}'));
  });
  secure.on('tlsClientError', () => undefined);
  shake = (socket) => secure.emit('connection', socket);
  closing.push(() => arrived.forEach((socket) => socket.destroy()));
  return portOf(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      arrived.push(socket.pause());
    }),
  );
}

function call(url: string): JsonObject {
  const config = { url, method: 'POST', followRedirects: true };
  return {
    ...plain('call', 'core.http.request', config),
    settings: { timeoutMs: 120_000, onUnknownOutcome: 'fail' },
  };
}

beforeAll(async () => {
  const [port, securePort] = [await openWorld(), await openSecureWorld()];
  mkdirSync(join(folder, 'workflows'));
  writeFileSync(join(folder, 'authority.pem'), authority.certificate);
  const world = `http://127.0.0.1:${port}`;
  for (const each of [
    workflow('moved', [call(`${world}/moved`)]),
    workflow('secure', [call(`https://127.0.0.1:${securePort}/secure`)]),
    workflow('awake', [call(`${world}/awake`)]),
    workflow('burst', [
      {
        ...call(`${world}/burst`),
        inputs: { body: { type: 'expression', expression: '{"tag": variables.tag}' } },
      },
    ]),
  ])
    writeFileSync(join(folder, 'workflows', `${String(each['id'])}.json`), JSON.stringify(each));
  cluster = clusterNodes({
    storeUrl: server().url,
    schema: 'late_effects',
    folder,
    flags: [
      ...['--workflows', join(folder, 'workflows'), '--log-level', 'warn'],
      ...['--allow-egress', `127.0.0.1:${port},127.0.0.1:${securePort}`],
    ],
    env: {
      WEFT_CLAIM_TTL_MS: String(TTL_MS),
      WEFT_HEARTBEAT_MS: '500',
      WEFT_POLL_MS: '100',
      NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
    },
  });
  await Promise.all([A, B].map((place) => cluster.start(place)));
}, 90_000);

afterAll(async () => {
  await cluster?.stop();
  for (const close of closing) close();
  rmSync(folder, { recursive: true, force: true });
});

const CALLS = 12;

/** Frozen until another process has written down that no one knows what became of the calls. */
async function whileFrozen(runs: readonly string[], meanwhile: () => void): Promise<void> {
  cluster.node(A).freeze();
  for (const runId of runs) await cluster.reaches(B, runId, 'failed');
  meanwhile();
  cluster.node(A).thaw();
  await isAwake();
  for (const runId of runs) {
    const failed = (await cluster.events(B, runId)).find(({ type }) => type === 'node.failed');
    expect(failed?.payload).toMatchObject({ error: { code: 'effect_outcome_unknown' } });
  }
}

/** It must be quite awake before it is said that it did nothing. */
async function isAwake(): Promise<void> {
  const own = await vi.waitFor(() => cluster.create(A, 'awake'), PATIENCE);
  await cluster.reaches(A, own, 'completed');
}

async function startCalls(workflowId: string, arrivals: readonly unknown[]): Promise<string[]> {
  const runs = await Promise.all(Array.from({ length: CALLS }, () => cluster.create(A, workflowId)));
  await vi.waitFor(() => expect(arrivals).toHaveLength(CALLS), PATIENCE);
  return runs;
}

const ROUNDS = 2;
/** So many that the first is seen from outside long before the last has left. */
const AT_ONCE = 400;

/** Runs that make one call each, all in the same moment. */
function createMany(round: number): Promise<unknown> {
  const tags = Array.from({ length: AT_ONCE }, (_, count) => `${round}-${count}`);
  return Promise.allSettled(tags.map((tag) => cluster.create(A, 'burst', { inputs: { tag }, tags: [tag] })));
}

/** Until nothing is left of what the frozen process held. */
function takenOver(): Promise<void> {
  return vi.waitFor(async () => expect(await runsWith('running,pending')).toEqual([]), PATIENCE);
}

async function runsWith(status: string): Promise<string[]> {
  const query = `limit=500&workflowId=burst&status=${status}`;
  const { json } = await cluster.call(B, 'GET', `/v1/host/weft/runs?${query}`);
  return (json['runs'] as { runId: string }[]).map(({ runId }) => runId);
}

/** What the calls say of which it is on record that no one knows what became of them. */
async function callsOfUnknownOutcome(): Promise<Set<string>> {
  const runs = await runsWith('failed');
  const calls = new Set<string>();
  const readAll = async (): Promise<void> => {
    for (let next = runs.pop(); next !== undefined; next = runs.pop()) {
      const { json } = await cluster.call(B, 'GET', `/v1/runs/${next}`);
      expect(json['error']).toMatchObject({ code: 'effect_outcome_unknown' });
      const [tag = ''] = json['tags'] as string[];
      calls.add(JSON.stringify({ tag }));
    }
  };
  await Promise.all(Array.from({ length: 8 }, readAll));
  return calls;
}

describe('calls whose process freezes past its deadline', () => {
  it('while they wait for an answer that sends them elsewhere do not go there', async () => {
    const runs = await startCalls('moved', waiting);

    await whileFrozen(runs, () => {
      for (const response of waiting.splice(0)) response.writeHead(307, { location: '/elsewhere' }).end();
    });

    expect(timesSeen('/elsewhere')).toBe(0);
    expect(timesSeen('/moved')).toBe(CALLS);
  });

  it('while they connect do not send their requests', async () => {
    const runs = await startCalls('secure', arrived);
    const closed = Promise.all(arrived.map((socket) => once(socket, 'close')));

    await whileFrozen(runs, () => arrived.splice(0).forEach(shake));
    await closed;

    expect(timesSeen('/secure')).toBe(0);
  });

  it('are made when it is awake', async () => {
    const runs = await startCalls('secure', arrived);

    arrived.splice(0).forEach(shake);

    for (const runId of runs) await cluster.reaches(A, runId, 'completed');
    expect(timesSeen('/secure')).toBe(CALLS);
  });

  it('in the middle of starting many of them starts no more', { timeout: 120_000 }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const frozen = new Promise<void>((resolve) => {
        onBurst = () => {
          cluster.node(A).freeze();
          onBurst = () => undefined;
          resolve();
        };
      });
      const created = createMany(round);
      await frozen;
      await takenOver();
      const before = seen.length;
      cluster.node(A).thaw();
      await created;
      await isAwake();

      const unknown = await callsOfUnknownOutcome();
      expect(unknown.size).toBeGreaterThan(0);
      expect(seen.slice(before).filter(({ body }) => unknown.has(body))).toEqual([]);
    }
  });
});
