import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALL_SCOPES, type Caller, createHost, DEFAULT_TENANT, type Host, type Store } from '@weft/engine';
import { openSqliteStore } from '@weft/storage';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chainOf } from '../load/workloads.ts';
import { fillHistory } from './fill-history.ts';
import { fillRuns } from './fill-runs.ts';
import { readSeed } from './seed.ts';

const CALLER: Caller = {
  tenant: DEFAULT_TENANT,
  principal: 'test',
  keyId: 'test',
  kind: 'service',
  test: false,
  scopes: new Set(ALL_SCOPES),
};
const QUESTION = { typeId: 'core.approvalGate', config: { title: 'May it continue?' } };

let folder: string;
let store: Store;
let host: Host;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weft-fill-'));
  store = openSqliteStore({ path: join(folder, 'weft.db') });
  host = createHost({ store, version: 'test' });
  await host.start();
});

afterEach(async () => {
  await host.stop(0);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function runOf(id: string, ...steps: { typeId: string; config: object }[]): Promise<string> {
  await host.workflows.register(CALLER, chainOf(id, id, steps), { strict: false, dev: false });
  const asked = {
    workflowId: id,
    inputs: {},
    configurable: {},
    tags: [],
    metadata: {},
    exclusiveScope: false,
  };
  const created = await host.runs.create(CALLER, asked);
  if (created.replayed) throw new Error('a new run was expected');
  return created.runId;
}

describe('filling a store', () => {
  it('adds finished runs that a host lists and reads like its own', async () => {
    const runId = await runOf('plain', { typeId: 'core.noop', config: {} });
    const seed = await readSeed(store, runId);

    await fillRuns(store, seed, 30);

    const { rows } = await store.listRuns(DEFAULT_TENANT, {}, { limit: 100 });
    expect(rows).toHaveLength(31);
    const oldest = rows.at(-1)?.record.runId ?? '';
    const page = await host.runs.events(CALLER, oldest, -1, 100);
    expect(page?.complete).toBe(true);
    expect(page?.events.map(({ type }) => type)).toEqual(seed.events.map(({ type }) => type));
  });

  it('makes a waiting run of any length that a host takes up where the pattern left off', async () => {
    const runId = await runOf('waiting', QUESTION);
    await expect.poll(async () => (await store.readCheckpoint(runId)) !== undefined).toBe(true);
    const seed = await readSeed(store, runId);

    const long = await fillHistory(store, seed, 12_345);

    const view = await host.runs.snapshot(CALLER, long);
    expect(view?.snapshot.status).toBe('waiting-approval');
    const cancelled = await host.runs.command(CALLER, long, { type: 'cancel', reason: 'enough' });
    expect(cancelled).toBeDefined();
    await expect
      .poll(async () => (await host.runs.snapshot(CALLER, long))?.snapshot.status)
      .toBe('cancelled');
    const last = await host.runs.events(CALLER, long, 12_344, 10);
    expect(last?.events[0]?.seq).toBe(12_345);
  });
});
