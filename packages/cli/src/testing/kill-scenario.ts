import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { checkLog, type LogEntry } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CountingServer, openCountingServer } from './counting-server.ts';
import { freePort, type HostProcess, startHostProcess } from './host-process.ts';
import { type KillClientOptions, type Receipts, runKillClient } from './kill-client.ts';
import { AGENT_TURNS, killWorkflows, TOKENS } from './kill-workflows.ts';
import { seededChance } from './seeded-chance.ts';
import type { StoreUnderTest } from './store-under-test.ts';

const API_KEY = `weft_test_${'k'.repeat(43)}`;
/** A third with children, a dispatch loop, streamed text and an agent; the others with effects, and with approvals first. */
const CLIENTS: readonly Pick<
  KillClientOptions,
  'workflowId' | 'nodeToAnswer' | 'answerChild' | 'configurable'
>[] = [
  { workflowId: 'kill-mixed' },
  { workflowId: 'kill-mixed' },
  { workflowId: 'kill-gate', nodeToAnswer: 'gate' },
  { workflowId: 'kill-mixed' },
  { workflowId: 'kill-gate', nodeToAnswer: 'gate' },
  { workflowId: 'kill-parent', nodeToAnswer: 'gate', answerChild: true },
  { workflowId: 'kill-dispatch' },
  {
    workflowId: 'kill-stream',
    configurable: { mockProvider: { id: 'stream-text', config: { tokens: TOKENS, delayMsPerToken: 8 } } },
  },
  { workflowId: 'kill-agent', configurable: { mockProvider: { id: 'tool-calls' } } },
];

interface EventDocument {
  readonly eventId: string;
  readonly sequence: number;
  readonly type: string;
  readonly timestamp: string;
  readonly nodeId?: string;
  readonly payload: JsonObject;
}

/**
 * Proof by force: the host is killed with SIGKILL again and again under load and restarted. Afterwards everything it ever acknowledged
 * must be there, and the outside world must not have seen anything it should not. When it is killed follows from WEFT_KILL_SEED.
 */
export function testKills(store: StoreUnderTest): void {
  const folder = mkdtempSync(join(tmpdir(), 'weft-kill-'));
  const rounds = Number(process.env['WEFT_KILL_ROUNDS'] ?? store.killRounds);
  const seed = Number(process.env['WEFT_KILL_SEED'] ?? 1);
  const chance = seededChance(seed);
  const receipts: Receipts = {
    runs: new Map(),
    events: new Map(),
    answered: new Set(),
    repeats: 0,
    refused: [],
  };
  /** Child runs that are there, by id: whose they are and how they stand. */
  const children = new Map<string, { parentRunId: string; status: string; workflowId: string }>();
  const logs = new Map<string, { texts: string[]; documents: EventDocument[]; status: string }>();
  let world: CountingServer;
  let host: HostProcess;
  let port: number;

  beforeAll(async () => {
    world = await openCountingServer(() => Math.floor(chance() * 15));
    port = await freePort();
    mkdirSync(join(folder, 'workflows'));
    for (const [index, each] of killWorkflows(world.port).entries()) {
      writeFileSync(join(folder, 'workflows', `${index}.json`), JSON.stringify(each));
    }
    host = await restart();

    const stop = new AbortController();
    const clients = CLIENTS.map((client, index) =>
      runKillClient({
        url: () => host.url,
        apiKey: API_KEY,
        ...client,
        name: `client-${index}`,
        receipts,
        signal: stop.signal,
      }),
    );
    for (let round = 0; round < rounds; round += 1) {
      await pause(60 + chance() * 340);
      await host.kill();
      host = await restart();
    }
    await pause(200);
    stop.abort();
    await Promise.all(clients);
    await readAllLogs([...receipts.runs.values()]);
    await readChildren();
    console.log(
      `kill test: seed ${seed}, ${rounds} kills, ${receipts.runs.size} acknowledged runs, ` +
        `${[...receipts.events.values()].reduce((sum, seen) => sum + seen.size, 0)} streamed events, ` +
        `${world.seen.length} effects seen outside, ${receipts.repeats} requests repeated, ${children.size} child runs`,
    );
  }, 300_000);

  afterAll(async () => {
    await host?.stop();
    await world?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  describe(`after ${rounds} kills under load`, () => {
    it('every acknowledged run is there and comes to its end', () => {
      expect(receipts.runs.size).toBeGreaterThan(rounds);
      for (const [tag, runId] of receipts.runs)
        expect(logs.get(runId)?.status, `${tag} ${runId}`).toBe('completed');
    });

    it('every event that was streamed is in the log, byte for byte', () => {
      for (const [runId, received] of receipts.events) {
        for (const [sequence, document] of received) expect(logs.get(runId)?.texts[sequence]).toBe(document);
      }
    });

    it('every log is legal: no gap, one terminal event and it is last', () => {
      for (const [runId, { documents }] of logs)
        expect(checkLog(documents.map(toLogEntry)), runId).toEqual([]);
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
        const own = [...children].flatMap(([id, child]) => (child.parentRunId === runId ? [id] : []));
        for (const event of [runId, ...own].flatMap((id) => logs.get(id)?.documents ?? [])) {
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

  describe('the child runs and streams of runs that were cut off', () => {
    const dispatchedBy = (runId: string): string[] =>
      (logs.get(runId)?.documents ?? [])
        .filter(({ type }) => type === 'node.dispatched')
        .map(({ payload }) => String(payload['childRunId']));
    const runsOf = (workflowId: string): string[] => {
      const index = CLIENTS.findIndex((client) => client.workflowId === workflowId);
      return [...receipts.runs].flatMap(([tag, runId]) =>
        tag.startsWith(`client-${index}-`) ? [runId] : [],
      );
    };

    it('are one per dispatch, under the id that the log announced', () => {
      const made = new Map<string, string[]>();
      for (const [id, { parentRunId }] of children)
        made.set(parentRunId, [...(made.get(parentRunId) ?? []), id]);
      for (const [runId, count] of [
        ...runsOf('kill-parent').map((id) => [id, 1] as const),
        ...runsOf('kill-dispatch').map((id) => [id, 2] as const),
      ]) {
        expect(dispatchedBy(runId), runId).toHaveLength(count);
        expect(made.get(runId)?.sort(), runId).toEqual(dispatchedBy(runId).sort());
      }
      expect(runsOf('kill-parent').length * runsOf('kill-dispatch').length).toBeGreaterThan(0);
    });

    it('have all come to their end, and none is without a parent that knows it', () => {
      const known = new Set([...receipts.runs.values()].flatMap(dispatchedBy));
      for (const [id, { status }] of children) {
        expect(status, id).toBe('completed');
        expect(known.has(id), id).toBe(true);
      }
    });

    it('took every turn of an agent once, in order', () => {
      const runs = runsOf('kill-agent');
      expect(runs.length).toBeGreaterThan(0);
      for (const runId of runs) {
        const ended = logs.get(runId)?.documents.filter(({ type }) => type === 'weft.step.completed') ?? [];
        expect(
          ended.map(({ payload }) => payload['step']),
          runId,
        ).toEqual(Array.from({ length: AGENT_TURNS }, (_, index) => `turn-${index + 1}`));
      }
    });

    it('streamed every piece of text once, in order', () => {
      const runs = runsOf('kill-stream');
      expect(runs.length).toBeGreaterThan(0);
      for (const runId of runs) {
        const pieces = logs.get(runId)?.documents.filter(({ type }) => type === 'output.chunk') ?? [];
        expect(
          pieces.map(({ payload }) => payload['chunk']),
          runId,
        ).toEqual(TOKENS);
      }
    });
  });

  async function restart(): Promise<HostProcess> {
    return await startHostProcess({
      dataFolder: join(folder, 'data'),
      port,
      apiKey: API_KEY,
      ...(store.env !== undefined && { env: store.env }),
      flags: [
        ...store.flags(),
        '--conformance',
        '--workflows',
        join(folder, 'workflows'),
        '--allow-egress',
        `127.0.0.1:${world.port}`,
      ],
    });
  }

  async function readChildren(): Promise<void> {
    for (const workflowId of ['kill-child', 'kill-worker-a', 'kill-worker-b']) {
      for (let cursor = ''; ; ) {
        const path = `/v1/host/weft/runs?limit=500&workflowId=${workflowId}${cursor}`;
        const page = (await get(path)) as { runs: { runId: string }[]; nextCursor?: string };
        for (const { runId } of page.runs) {
          const { parentRunId, status } = (await get(`/v1/runs/${runId}`)) as JsonObject;
          children.set(runId, { parentRunId: String(parentRunId), status: String(status), workflowId });
        }
        if (page.nextCursor === undefined) break;
        cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
      }
    }
    await readAllLogs([...children.keys()]);
  }

  async function readAllLogs(runIds: readonly string[]): Promise<void> {
    const deadline = Date.now() + 60_000;
    for (const runId of runIds) {
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
