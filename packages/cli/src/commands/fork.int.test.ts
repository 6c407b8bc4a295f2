import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { type Client, createClient } from '@weft/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../program-name.ts';
import { freePort, type HostProcess, startHostProcess } from '../testing/host-process.ts';
import { type Outcome, type Served, serveHere, weft } from '../testing/served.ts';

/** Forks through the command line, against a host on SQLite and a world on this machine that counts what reaches it. */

const KEY = `weft_live_${'f'.repeat(43)}`;
const place = { position: { x: 0, y: 0 }, inputs: {} };

/** Requests to /call, in order; an order called "bad" is refused, and so is everything while the world is broken. */
const calls: string[] = [];
/** Bodies of webhook deliveries. */
const delivered: string[] = [];
let isBroken = false;
let world: Server;
let worldPort: number;
let folder: string;
let served: Served;
let client: Client;

beforeAll(async () => {
  world = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      if (request.url === '/hook') {
        delivered.push(body);
        return response.writeHead(204).end();
      }
      calls.push(body);
      const isRefused = isBroken || body.includes('"bad"');
      return response
        .writeHead(isRefused ? 500 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ call: calls.length }));
    });
  });
  await new Promise<void>((resolve) => world.listen(0, '127.0.0.1', resolve));
  worldPort = (world.address() as AddressInfo).port;
  folder = await mkdtemp(join(tmpdir(), 'weft-fork-'));
  await mkdir(join(folder, 'workflows'));
  for (const definition of [order('1.0'), child(), family(), counting()]) {
    const file = join(folder, 'workflows', `${String(definition['id'])}.json`);
    await writeFile(file, JSON.stringify(definition));
  }
  served = await serveHere(folder, FLAGS(), { WEFT_API_KEY: KEY });
  client = createClient({ baseUrl: served.url, apiKey: KEY });
});

afterAll(async () => {
  await served.stop();
  world.closeAllConnections();
  await new Promise((resolve) => world.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const FLAGS = (): string[] => [
  '--workflows',
  join(folder, 'workflows'),
  '--allow-egress',
  `127.0.0.1:${worldPort}`,
  '--max-node-executions',
  '100000',
];

function workflow(id: string, version: string, nodes: JsonObject[], links: [string, string][]): JsonObject {
  return {
    id,
    name: id,
    version,
    nodes: nodes.map((node) => ({ name: node['id'] ?? '', ...place, ...node })),
    edges: links.map(([from, to]) => ({ id: `${from}-${to}`, sourceNodeId: from, targetNodeId: to })),
    triggers: [{ id: 'manual', type: 'manual', enabled: true }],
    variables: [{ name: 'order', type: 'string', defaultValue: 'good' }],
    metadata: { tags: [] },
    settings: { timeout: 120_000 },
  };
}

const callNode = (id: string): JsonObject => ({
  id,
  typeId: 'core.http.request',
  config: { url: `http://127.0.0.1:${worldPort}/call`, method: 'POST' },
  inputs: { body: { type: 'expression', expression: '{"order": variables.order}' } },
});

const note = (id: string, value: string): JsonObject => ({
  id,
  typeId: 'core.setVariable',
  config: { name: id, value },
});

/** An effect between two notes; a later version says something else at the end. */
const order = (version: string): JsonObject =>
  workflow(
    'order',
    version,
    [note('begun', 'yes'), callNode('call'), note('ended', `by ${version}`)],
    [
      ['begun', 'call'],
      ['call', 'ended'],
    ],
  );

const child = (): JsonObject =>
  workflow(
    'child',
    '1.0',
    [callNode('call-child'), { id: 'ask', typeId: 'core.approvalGate', config: {} }],
    [['call-child', 'ask']],
  );

/** Effects, a person, a child that asks a person itself. */
const family = (): JsonObject =>
  workflow(
    'family',
    '1.0',
    [
      callNode('call-first'),
      { id: 'gate', typeId: 'core.approvalGate', config: {} },
      { id: 'sub', typeId: 'core.subWorkflow', config: { workflowId: 'child' } },
      callNode('call-last'),
    ],
    [
      ['call-first', 'gate'],
      ['gate', 'sub'],
      ['sub', 'call-last'],
    ],
  );

/** A log of many thousand events. */
const counting = (): JsonObject =>
  workflow(
    'counting',
    '1.0',
    [
      {
        id: 'each',
        typeId: 'core.loop',
        config: { while: 'index < 4000', body: ['count'], maxIterations: 4_000 },
      },
      { id: 'count', typeId: 'core.setVariable', config: { name: 'counted', expression: 'index' } },
    ],
    [],
  );

const on = (...argv: string[]): Promise<Outcome> =>
  weft(folder, argv, { WEFT_URL: served.url, WEFT_API_KEY: KEY });

async function ended(workflowId: string, status: string, inputs: JsonObject = {}): Promise<string> {
  const { runId } = await client.runs.create({ workflowId, inputs });
  await reaches(client, runId, status);
  return runId;
}

async function reaches(at: Client, runId: string, status: string, timeout = 30_000): Promise<void> {
  await expect.poll(async () => (await at.runs.get(runId)).status, { timeout, interval: 20 }).toBe(status);
}

async function seqOf(runId: string, type: string, nodeId: string): Promise<number> {
  for await (const event of client.runs.log(runId))
    if (event.type === type && event.nodeId === nodeId) return event.sequence;
  return -1;
}

describe('weft fork', () => {
  it('continues from a sequence with another input, follows it and prints the diff', async () => {
    const runId = await ended('order', 'failed', { order: 'bad' });
    const from = await seqOf(runId, 'node.started', 'call');
    const before = calls.length;

    const outcome = await on(
      'fork',
      runId,
      '--from',
      String(from),
      '--input',
      'order=41',
      '--watch',
      '--diff',
    );

    expect(outcome.code).toBe(0);
    expect(outcome.err).toContain(`Forked ${runId} from #${from} as a branch`);
    expect(outcome.out).toMatch(/Run \S+ completed/);
    expect(outcome.out).toContain('First difference at #');
    expect(outcome.out).toMatch(/status\s+"failed" → "completed"/);
    expect(outcome.out).toContain('Paired by node, type and occurrence');
    expect(outcome.out).not.toContain(' | ');
    expect(outcome.err).toContain(`By sequence: ${PROGRAM} diff ${runId}`);
    expect(outcome.err).not.toContain('was read before');
    expect(calls.slice(before)).toEqual(['{"order":"41"}']);
  });

  it('says when a changed input was consumed before the cut', async () => {
    const runId = await ended('order', 'completed', { order: 'good' });
    const read = await seqOf(runId, 'node.started', 'call');
    const from = await seqOf(runId, 'node.started', 'ended');

    const late = await on('fork', runId, '--from', String(from), '--input', 'order=other', '--diff');

    expect(late.code).toBe(0);
    expect(late.err).toContain(
      `Input order was read before #${from} already, by call (#${read}): its result is kept. To change it, fork from #${read}.`,
    );
  });

  it('takes --align node, which has no JSON form', async () => {
    const runId = await ended('order', 'completed');

    const aligned = await on('fork', runId, '--replay', '--diff', '--align', 'node');
    const asJson = await on('fork', runId, '--replay', '--diff', '--align', 'node', '--json');

    expect(aligned).toMatchObject({ code: 0, out: expect.stringContaining('No difference.') });
    expect(asJson).toMatchObject({ code: 2, err: expect.stringContaining('remove --json') });
  });

  it('sets keys of configurable, and gives the document with --json', async () => {
    const runId = await ended('order', 'completed');

    const outcome = await on(
      'fork',
      runId,
      '--from',
      '2',
      '--set',
      'model=small',
      '--set',
      'temperature=0',
      '--json',
    );

    const forked = JSON.parse(outcome.out) as { runId: string };
    expect(forked).toMatchObject({ sourceRunId: runId, fromSeq: 2, mode: 'branch', status: 'pending' });
    expect((await client.runs.get(forked.runId)).configurable).toEqual({ model: 'small', temperature: 0 });
  });

  it('replays without touching the world, and finds no difference', async () => {
    const runId = await ended('order', 'completed');
    const before = calls.length;

    const outcome = await on('fork', runId, '--replay', '--diff');

    expect(outcome.code).toBe(0);
    expect(outcome.out).toContain('No difference.');
    expect(calls).toHaveLength(before);
  });

  it('says what is missing or does not go together', async () => {
    const outcomes = [
      await on('fork', 'RUN'),
      await on('fork', 'RUN', '--from', 'x'),
      await on('fork', 'RUN', '--replay', '--set', 'model=small'),
      await on('fork', 'no-such-run', '--from', '1'),
    ];

    expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2, 3]);
    expect(outcomes[0]?.err).toContain('--from SEQ is needed');
  });
});

describe('weft runs show', () => {
  it('shows a run as of one of its events', async () => {
    const runId = await ended('order', 'completed');
    const at = await seqOf(runId, 'node.started', 'call');

    const [then, now, asJson] = [
      await on('runs', 'show', runId, '--at', String(at)),
      await on('runs', 'show', runId),
      await on('runs', 'show', runId, '--at', String(at), '--json'),
    ];

    expect(then.out).toMatch(/status\s+running/);
    expect(then.out).toMatch(/call\s+running/);
    expect(then.out).not.toContain('by 1.0');
    expect(then.err).toContain(`weft fork ${runId} --from ${at + 1}`);
    expect(now.out).toMatch(/status\s+completed/);
    expect(JSON.parse(asJson.out)).toMatchObject({ status: 'running', weft: { asOf: at } });
  });

  it('says how far the log goes', async () => {
    const runId = await ended('order', 'completed');

    const outcome = await on('runs', 'show', runId, '--at', '999');

    expect(outcome.code).toBe(3);
    expect(outcome.err).toMatch(/The run has \d+ events/);
  });
});

describe('weft runs retry', () => {
  it('does the failed node again and keeps what came before', async () => {
    isBroken = true;
    const runId = await ended('order', 'failed');
    isBroken = false;
    const before = calls.length;

    const outcome = await on('runs', 'retry', runId, '--watch');

    const from = await seqOf(runId, 'node.started', 'call');
    expect(outcome.code).toBe(0);
    expect(outcome.err).toContain('Node call failed with');
    expect(outcome.err).toContain(`Retrying it from #${from}`);
    expect(outcome.out).toMatch(/Run \S+ completed/);
    expect(calls).toHaveLength(before + 1);
  });

  it('continues with another version of the workflow', async () => {
    isBroken = true;
    const runId = await ended('order', 'failed');
    isBroken = false;
    await writeFile(join(folder, 'order-2.json'), JSON.stringify(order('2.0')));
    await on('workflows', 'register', 'order-2.json');

    const outcome = await on('runs', 'retry', runId, '--version', '2.0', '--json');

    const forked = JSON.parse(outcome.out) as { runId: string };
    await reaches(client, forked.runId, 'completed');
    expect((await client.runs.get(forked.runId)).variables).toMatchObject({ ended: 'by 2.0' });
  });

  it('refuses a run that has not failed', async () => {
    const outcome = await on('runs', 'retry', await ended('order', 'completed'));

    expect(outcome.code).toBe(4);
    expect(outcome.err).toContain('only a failed run can be retried');
  });
});

describe('a replay', () => {
  it('of a run with a child and approvals equals it, and causes no call to the outside', async () => {
    await client.webhooks.register({ url: `http://127.0.0.1:${worldPort}/hook`, events: ['*'] });
    const { runId } = await client.runs.create({ workflowId: 'family' });
    await reaches(client, runId, 'waiting-approval');
    await client.runs.resolve(runId, 'gate', { action: 'accept' });
    const asking = async () =>
      (await client.interrupts.list()).items.find(({ workflowId }) => workflowId === 'child');
    await expect.poll(asking, { timeout: 30_000 }).toBeDefined();
    await client.runs.resolve((await asking())?.runId ?? '', 'ask', { action: 'accept' });
    await reaches(client, runId, 'completed');
    const before = calls.length;

    const { runId: forked } = await client.runs.fork(runId, { mode: 'replay' });
    await reaches(client, forked, 'completed');

    const diff = await client.runs.diff(runId, forked);
    expect(diff).toMatchObject({ divergedAtSeq: null, eventDiffs: [], stateDiff: {} });
    expect(calls).toHaveLength(before);
    // Deliveries go out in order of their making, so once a later run's is here the replay's would be, too.
    const later = await ended('order', 'completed');
    await expect
      .poll(() => delivered.some((body) => body.includes(later) && body.includes('run.completed')), {
        timeout: 30_000,
      })
      .toBe(true);
    expect(delivered.some((body) => body.includes(runId) && body.includes('run.completed'))).toBe(true);
    expect(delivered.filter((body) => body.includes(forked))).toEqual([]);
  });

  it('that is killed in the middle is finished after the restart, and still equals its source', async () => {
    const dataFolder = join(folder, 'killed');
    const port = await freePort();
    const start = (): Promise<HostProcess> =>
      startHostProcess({ dataFolder, port, apiKey: KEY, flags: FLAGS() });
    let host = await start();
    const there = createClient({ baseUrl: host.url, apiKey: KEY });
    const { runId } = await there.runs.create({ workflowId: 'counting' });
    await reaches(there, runId, 'completed', 50_000);
    const length = (await there.runs.list()).items.find((run) => run.runId === runId)?.events ?? 0;

    const { runId: forked } = await there.runs.fork(runId, { mode: 'replay', fromSeq: 10 });
    let recorded = 0;
    const eventsOf = async (): Promise<number> => {
      recorded = (await there.runs.list()).items.find((run) => run.runId === forked)?.events ?? 0;
      return recorded;
    };
    await expect.poll(eventsOf, { timeout: 30_000, interval: 2 }).toBeGreaterThan(200);
    await host.kill();
    host = await start();
    await reaches(there, forked, 'completed', 50_000);

    const diff = await there.runs.diff(runId, forked);
    await host.stop();
    expect(recorded).toBeLessThan(length);
    expect(diff).toMatchObject({ divergedAtSeq: null, eventDiffs: [], stateDiff: {} });
  }, 150_000);
});
