import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import {
  ALL_SCOPES,
  type Caller,
  checkLog,
  type Command,
  createHost,
  type Host,
  type LogEntry,
  type Store,
} from '@weft/engine';
import type { Json, JsonObject } from '@weft/protocol';
import { openSqliteStore } from '@weft/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Clients with conflicting commands for one run at the same moment, on a real store: one wins, the others get a rejection. */

const RACES = 40;
/** Pairs that race one after the other; the loser may have to wait a moment for its answer. */
const PAIRS = 20;
const PATIENCE_MS = 30_000;
const caller: Caller = {
  tenant: 'default',
  principal: 'racer',
  keyId: 'key-racer',
  kind: 'service',
  test: false,
  scopes: new Set(ALL_SCOPES),
};
const folder = mkdtempSync(join(tmpdir(), 'weft-races-'));
let store: Store;
let host: Host;

beforeAll(async () => {
  store = openSqliteStore({ path: join(folder, 'races.db') });
  host = createHost({ store, version: '0.0.0-test', limits: { pollMs: 20 } });
  await host.start();
  for (const each of [
    workflow('gate', [plain('gate', 'core.approvalGate')]),
    workflow('brief-gate', [plain('gate', 'core.approvalGate', { timeoutMs: 250 })]),
    workflow('brief-talk', [plain('gate', 'core.conversationGate', { timeoutMs: 250, turnCount: 1 })]),
    workflow('parent', [plain('sub', 'core.subWorkflow', { workflowId: 'gate' })]),
    workflow('grandparent', [plain('sub', 'core.subWorkflow', { workflowId: 'parent' })]),
  ]) {
    await host.workflows.register(caller, each, { strict: false, dev: false });
  }
});

afterAll(async () => {
  await host?.stop(0);
  await store?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('two answers to one question', () => {
  it('are one answer: the other is rejected as too late', async () => {
    const tallies = { accept: 0, reject: 0 };

    for (let race = 0; race < PAIRS; race += 1) {
      const runId = await waiting('gate');
      const [yes = '', no = ''] = await Promise.all(
        shuffled(race, [
          () => answer(runId, { action: 'accept' }),
          () => answer(runId, { action: 'reject' }),
        ]),
      );
      const status = await ended(runId);

      expect([yes, no].filter((outcome) => outcome === 'applied')).toHaveLength(1);
      expect([yes, no].filter((outcome) => outcome === 'interrupt_already_resolved')).toHaveLength(1);
      expect(status).toBe(yes === 'applied' ? 'completed' : 'failed');
      tallies[yes === 'applied' ? 'accept' : 'reject'] += 1;
      expect(await resolutions(runId)).toBe(1);
    }

    expect(Math.min(tallies.accept, tallies.reject)).toBeGreaterThan(0);
  });
});

describe('an answer and a cancel', () => {
  it('end the run once, and the loser gets how', async () => {
    const statuses = new Set<string>();

    for (let race = 0; race < PAIRS; race += 1) {
      const runId = await waiting('gate');
      const [answered = '', cancelled = ''] = await Promise.all(
        shuffled(race, [() => answer(runId, { action: 'accept' }), () => send(runId, { type: 'cancel' })]),
      );
      const status = await ended(runId);
      statuses.add(status);

      if (status === 'cancelled') {
        expect(cancelled).toBe('applied');
        expect(answered).toBe('interrupt_gone');
      } else expect([status, answered, cancelled]).toEqual(['completed', 'applied', 'refused']);
    }

    expect([...statuses].sort()).toEqual(['cancelled', 'completed']);
  });
});

describe('an answer and the end of the time for it', () => {
  it.each([
    ['brief-gate', { action: 'accept' }, 'failed'],
    ['brief-talk', { content: 'so be it' }, 'completed'],
  ])('are one resolution: %s', async (workflowId, value, atTimeout) => {
    const races = Array.from({ length: RACES }, async (_, race) => {
      const runId = await waiting(workflowId);
      await pause(race * 10);
      const outcome = await answer(runId, value);
      const status = await ended(runId);

      expect(['applied', 'interrupt_already_resolved']).toContain(outcome);
      expect(status).toBe(outcome === 'applied' ? 'completed' : atTimeout);
      expect(await resolutions(runId)).toBe(1);
      return outcome === 'applied';
    });

    const outcomes = new Set(await Promise.all(races));

    expect(outcomes.size).toBe(2);
  });
});

describe('the creation of a child and the cancel of its parent', () => {
  it.each(['parent', 'grandparent'])('leave no running run behind: %s', async (workflowId) => {
    const races = Array.from({ length: RACES }, async (_, race) => {
      const runId = await create(workflowId);
      // From at once to after the child has come to its question.
      for (let turns = 0; turns < race % 8; turns += 1) await turn();
      if (race % 8 === 7) await until(async () => (await statusOf(runId)) === 'waiting-approval');
      await send(runId, { type: 'cancel' });
      return runId;
    });
    const parents = new Set(await Promise.all(races));

    const { rows } = await until(async () => {
      const listed = await store.listRuns('default', {}, { limit: 1000 });
      return listed.rows.every(({ head }) => OVER.has(head.status)) ? listed : undefined;
    });

    const children = rows.filter(({ record }) => parents.has(record.parent?.runId ?? ''));
    expect(children.length).toBeGreaterThan(0);
    for (const { record, head } of children) {
      expect(head.status).toBe('cancelled');
      expect(JSON.parse((await log(record.runId)).at(-1)?.payload ?? '')).toMatchObject({
        reason: 'parent-cancelled',
        parentRunId: record.parent?.runId,
      });
    }
    for (const { record } of rows) await isLegal(record.runId);
  });
});

const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** Starts the calls in the one order or the other; answers come in the order given. */
function shuffled(race: number, calls: readonly (() => Promise<string>)[]): Promise<string>[] {
  const order = race % 2 === 0 ? [0, 1] : [1, 0];
  const begun = new Map(order.map((index) => [index, calls[index]?.() ?? Promise.resolve('')]));
  return calls.map((_, index) => begun.get(index) ?? Promise.resolve(''));
}

async function create(workflowId: string): Promise<string> {
  const accepted = await host.runs.create(caller, {
    workflowId,
    inputs: {},
    configurable: {},
    tags: [],
    metadata: {},
    exclusiveScope: false,
  });
  if (accepted.replayed) throw new Error('a run without a key cannot be a replay');
  return accepted.runId;
}

async function waiting(workflowId: string): Promise<string> {
  const runId = await create(workflowId);
  await until(async () => (await statusOf(runId)) === 'waiting-approval');
  return runId;
}

function answer(runId: string, value: Json): Promise<string> {
  return send(runId, {
    type: 'resolve',
    nodeId: 'gate',
    value,
    by: caller.principal,
    byUser: false,
    viaLink: false,
  });
}

/** `applied`, the code of the refusal, or `refused` where there is none. */
async function send(runId: string, command: Command): Promise<string> {
  const sent = await host.runs.command(caller, runId, command);
  if (sent === undefined || sent.replayed) throw new Error('the run is not there');
  const { commandResult } = sent;
  if (commandResult === undefined) throw new Error('no result in time');
  return commandResult.applied ? 'applied' : (commandResult.refusal?.code ?? 'refused');
}

async function statusOf(runId: string): Promise<string> {
  return (await store.readRun(runId, undefined))?.head.status ?? 'missing';
}

/** The status in which it ended; its log is legal. */
async function ended(runId: string): Promise<string> {
  const status = await until(async () => {
    const now = await statusOf(runId);
    return OVER.has(now) ? now : undefined;
  });
  await isLegal(runId);
  return status;
}

async function log(runId: string) {
  return await store.readEvents(runId, 0, 10_000, 1e9);
}

async function isLegal(runId: string): Promise<void> {
  const entries = (await log(runId)).map(
    ({ seq, type, at, nodeId, payload }): LogEntry => ({
      sequence: seq,
      type,
      at,
      payload: JSON.parse(payload) as Json,
      ...(nodeId !== undefined && { nodeId }),
    }),
  );
  expect(checkLog(entries), runId).toEqual([]);
}

async function resolutions(runId: string): Promise<number> {
  return (await log(runId)).filter(({ type }) => type === 'interrupt.resolved').length;
}

async function until<Value>(condition: () => Promise<Value | undefined | false>): Promise<Value> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`waited in vain for: ${condition.toString()}`);
    await pause(2);
  }
}

function plain(id: string, typeId: string, config: JsonObject = {}): JsonObject {
  return { id, typeId, name: id, position: { x: 0, y: 0 }, config, inputs: {} };
}

function workflow(id: string, nodes: JsonObject[]): JsonObject {
  return {
    id,
    name: id,
    version: '1.0',
    nodes,
    edges: [],
    triggers: [{ id: 'manual', type: 'manual' }],
    variables: [],
    metadata: {},
    settings: {},
  };
}
