import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { checkLog, type LogEntry } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CountingServer, openCountingServer } from './testing/counting-server.ts';
import { freePort, type HostProcess, startHostProcess } from './testing/host-process.ts';
import { type Receipts, runKillClient } from './testing/kill-client.ts';

/**
 * Proof by force: the host is killed with SIGKILL at random moments under load, restarted, and killed again. Afterwards
 * everything it ever acknowledged must be there, and the outside world must not have seen anything it should not.
 */

const ROUNDS = Number(process.env['WEFT_KILL_ROUNDS'] ?? 20);
const CLIENTS = 6;
const API_KEY = `weft_live_${'k'.repeat(43)}`;

interface EventDocument {
  readonly eventId: string;
  readonly sequence: number;
  readonly type: string;
  readonly timestamp: string;
  readonly nodeId?: string;
  readonly payload: JsonObject;
}

const folder = mkdtempSync(join(tmpdir(), 'weft-kill-'));
const receipts: Receipts = { runs: new Map(), events: new Map(), answered: new Set(), repeats: 0 };
const logs = new Map<string, { texts: string[]; documents: EventDocument[]; status: string }>();
let world: CountingServer;
let host: HostProcess;
let port: number;

beforeAll(async () => {
  world = await openCountingServer(() => Math.floor(Math.random() * 15));
  port = await freePort();
  mkdirSync(join(folder, 'workflows'));
  writeFileSync(join(folder, 'workflows', 'kill.json'), JSON.stringify(killWorkflow(world.port)));
  writeFileSync(join(folder, 'workflows', 'gate.json'), JSON.stringify(gateWorkflow(world.port)));
  host = await restart();

  const stop = new AbortController();
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    runKillClient({
      url: host.url,
      apiKey: API_KEY,
      // Every third client works with runs that wait for an approval first.
      ...(index % 3 === 2 ? { workflowId: 'kill-gate', nodeToAnswer: 'gate' } : { workflowId: 'kill-mixed' }),
      name: `client-${index}`,
      receipts,
      signal: stop.signal,
    }),
  );
  for (let round = 0; round < ROUNDS; round += 1) {
    await pause(60 + Math.random() * 340);
    await host.kill();
    host = await restart();
  }
  await pause(200);
  stop.abort();
  await Promise.all(clients);
  await readAllLogs();
  console.log(
    `kill test: ${ROUNDS} kills, ${receipts.runs.size} acknowledged runs, ` +
      `${[...receipts.events.values()].reduce((sum, seen) => sum + seen.size, 0)} streamed events, ` +
      `${world.seen.length} effects seen outside, ${receipts.repeats} requests repeated`,
  );
}, 300_000);

afterAll(async () => {
  await host?.stop();
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe(`after ${ROUNDS} kills under load`, () => {
  it('every acknowledged run is there and comes to its end', () => {
    expect(receipts.runs.size).toBeGreaterThan(ROUNDS);
    for (const [tag, runId] of receipts.runs)
      expect(logs.get(runId)?.status, `${tag} ${runId}`).toBe('completed');
  });

  it('every event that was streamed is in the log, byte for byte', () => {
    for (const [runId, received] of receipts.events) {
      for (const [sequence, document] of received) expect(logs.get(runId)?.texts[sequence]).toBe(document);
    }
  });

  it('every log is legal: no gap, one terminal event and it is last', () => {
    for (const [runId, { documents }] of logs) expect(checkLog(documents.map(toLogEntry)), runId).toEqual([]);
  });

  it('every answer that was taken is in the log, once', () => {
    expect(receipts.answered.size).toBeGreaterThan(0);
    for (const runId of receipts.answered) {
      const resolved = logs.get(runId)?.documents.filter((event) => event.type === 'interrupt.resolved');
      expect(resolved, runId).toHaveLength(1);
    }
  });

  it('a request repeated with the same key made one run', async () => {
    for (const tag of [...receipts.runs.keys()].slice(0, 200)) {
      const listed = (await get(`/v1/host/weft/runs?tag=${tag}`)) as { runs: unknown[] };
      expect(listed.runs, tag).toHaveLength(1);
    }
  });

  it('no effect was fired again after its outcome was on record', () => {
    const lastSeen = new Map(world.seen.map((seen) => [seen.call, seen.at]));
    for (const [tag, runId] of receipts.runs) {
      for (const event of logs.get(runId)?.documents ?? []) {
        if (event.type !== 'node.completed' || !event.nodeId?.startsWith('call')) continue;
        const at = lastSeen.get(JSON.stringify({ tag, node: event.nodeId }));
        expect(at, `${tag} ${event.nodeId}`).toBeLessThanOrEqual(Date.parse(event.timestamp));
      }
    }
  });

  it('an effect cut off in flight came again under the same invocation id', () => {
    const idsByCall = new Map<string, Set<string>>();
    for (const { call, invocationId } of world.seen) {
      idsByCall.set(call, (idsByCall.get(call) ?? new Set()).add(invocationId));
    }
    for (const [call, ids] of idsByCall) expect(ids.size, call).toBe(1);
    expect(world.seen.length).toBeGreaterThan(idsByCall.size);
  });
});

async function restart(): Promise<HostProcess> {
  return await startHostProcess({
    dataFolder: join(folder, 'data'),
    port,
    apiKey: API_KEY,
    flags: ['--workflows', join(folder, 'workflows'), '--allow-egress', `127.0.0.1:${world.port}`],
  });
}

async function readAllLogs(): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (const runId of receipts.runs.values()) {
    for (;;) {
      const page = (await get(`/v1/runs/${runId}/events/poll?limit=1000&timeout=5`, true)) as string;
      const { events, isTerminal, runStatus } = JSON.parse(page) as {
        events: EventDocument[];
        isTerminal: boolean;
        runStatus: string;
      };
      if (isTerminal || Date.now() > deadline) {
        logs.set(runId, { documents: events, texts: splitDocuments(page, events), status: runStatus });
        break;
      }
      await pause(50);
    }
  }
}

async function get(path: string, asText = false): Promise<unknown> {
  const response = await fetch(`${host.url}${path}`, { headers: { authorization: `Bearer ${API_KEY}` } });
  return asText ? await response.text() : await response.json();
}

/** The documents as they stand in the page's text, so that bytes can be compared with what was streamed. */
function splitDocuments(page: string, events: readonly EventDocument[]): string[] {
  const starts = events.map((event) => page.indexOf(`{"eventId":"${event.eventId}"`));
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? page.indexOf(']', page.lastIndexOf('"sequence"'));
    return page.slice(start, end).replace(/,$/, '');
  });
}

function toLogEntry(event: EventDocument): LogEntry {
  return {
    sequence: event.sequence,
    type: event.type,
    at: Date.parse(event.timestamp),
    payload: event.payload,
    ...(event.nodeId !== undefined && { nodeId: event.nodeId }),
  };
}

const place = { position: { x: 0, y: 0 } };

function callNode(id: string, worldPort: number): JsonObject {
  return {
    id,
    typeId: 'core.http.request',
    name: id,
    ...place,
    config: { url: `http://127.0.0.1:${worldPort}/`, method: 'POST' },
    inputs: { body: { type: 'expression', expression: `{"tag": variables.tag, "node": "${id}"}` } },
    settings: { retry: { maxAttempts: 5, initialMs: 20 } },
  };
}

function plainNode(id: string, typeId: string, config: JsonObject = {}): JsonObject {
  return { id, typeId, name: id, ...place, config, inputs: {} };
}

function workflow(id: string, nodes: JsonObject[], edges: [string, string][]): JsonObject {
  return {
    id,
    name: id,
    version: '1.0',
    nodes,
    edges: edges.map(([from, to]) => ({ id: `${from}-${to}`, sourceNodeId: from, targetNodeId: to })),
    triggers: [{ id: 'manual', type: 'manual' }],
    variables: [{ name: 'tag', type: 'string', required: true }],
    metadata: {},
    settings: {},
  };
}

/** Effects side by side, a delay, a join, another effect. */
function killWorkflow(worldPort: number): JsonObject {
  return workflow(
    'kill-mixed',
    [
      plainNode('begin', 'core.noop'),
      callNode('call-a', worldPort),
      callNode('call-b', worldPort),
      plainNode('wait', 'core.delay', { ms: 15 }),
      plainNode('note', 'core.setVariable', { name: 'note', value: 'joined' }),
      callNode('call-c', worldPort),
      plainNode('end', 'core.noop'),
    ],
    [
      ['begin', 'call-a'],
      ['begin', 'call-b'],
      ['begin', 'wait'],
      ['call-a', 'note'],
      ['call-b', 'note'],
      ['wait', 'note'],
      ['note', 'call-c'],
      ['call-c', 'end'],
    ],
  );
}

/** Waits for a person between two effects. */
function gateWorkflow(worldPort: number): JsonObject {
  return workflow(
    'kill-gate',
    [
      callNode('call-before', worldPort),
      plainNode('gate', 'core.approvalGate'),
      callNode('call-after', worldPort),
    ],
    [
      ['call-before', 'gate'],
      ['gate', 'call-after'],
    ],
  );
}
