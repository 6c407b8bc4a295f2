import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createModels, readModelsConfig } from '@weft/connectors/models';
import { type Caller, createHost, type Host, openMemoryStore } from '@weft/engine';
import { ALL_SCOPES, type Json } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** The walk of docs/guide/agents.md; what a `kill -9` in the middle of it does is held by agent-kill.int.test.ts. */

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
const PAGE = read('docs/guide/agents.md').split('## Try it')[1] ?? '';
const DEFINITION = JSON.parse(/```json\n([\s\S]*?)\n```/.exec(PAGE)?.[1] ?? '') as Json;
const caller: Caller = {
  tenant: 'default',
  principal: 'reader',
  keyId: 'key-reader',
  kind: 'service',
  test: false,
  scopes: new Set(ALL_SCOPES),
};

const store = openMemoryStore();
let host: Host;

beforeAll(async () => {
  const models = createModels(
    readModelsConfig((JSON.parse(read('examples/models.json')) as { models: Json }).models),
  );
  host = createHost({ store, version: '0.0.0-test', models, limits: { pollMs: 10 } });
  await host.start();
  for (const definition of [JSON.parse(read('examples/workflows/order-fulfilment.json')) as Json, DEFINITION])
    await host.workflows.register(caller, definition, { strict: true, dev: false });
});

afterAll(() => host.stop(0));

/** Of each event: its sequence and type, as the page shows them. */
async function ended(runId: string): Promise<{ readonly types: string[]; readonly text: string }> {
  for (let tries = 0; tries < 3_000; tries += 1) {
    const status = (await host.runs.snapshot(caller, runId))?.snapshot.status;
    if (status === 'completed') break;
    await pause(10);
  }
  const events = await store.readEvents(runId, 0, 1_000, 1e9);
  return {
    types: events.map(({ type }) => type),
    text: events.map(({ payload }) => payload.replaceAll(runId, 'RUN')).join('\n'),
  };
}

function forkedId(forked: Awaited<ReturnType<Host['runs']['fork']>>): string {
  return forked !== undefined && 'runId' in forked ? forked.runId : '';
}

describe('the agent of the guide', () => {
  it('does what the page shows, is replayed without a difference, and is forked before its last turn', async () => {
    const request = { workflowId: 'order-desk', inputs: {}, configurable: {}, tags: [], metadata: {} };
    const accepted = await host.runs.create(caller, { ...request, exclusiveScope: false });
    const runId = 'runId' in accepted ? accepted.runId : '';
    const source = await ended(runId);
    const shown = [...PAGE.matchAll(/^ {3,4}(\d+) {4}\+\d\.\d{3}s {2}([\w.]+) /gm)].map(([, seq, type]) => [
      Number(seq),
      type,
    ]);

    expect(shown.length).toBeGreaterThan(15);
    for (const [seq, type] of shown.filter(([each]) => Number(each) <= 24))
      expect(source.types[Number(seq)], String(seq)).toBe(type);
    expect(source.types.filter((type) => type === 'node.dispatched')).toHaveLength(2);

    const replay = await ended(forkedId(await host.runs.fork(caller, runId, { mode: 'replay' })));
    expect(replay).toEqual(source);

    const overlay = { configurable: { model: 'mock/echo' } };
    const fork = { mode: 'branch', fromSeq: 22, overlay } as const;
    const other = await ended(forkedId(await host.runs.fork(caller, runId, fork)));
    expect(other.text).toContain('mock-echo');
    expect(other.types.slice(22)).not.toContain('node.dispatched');
  });
});
