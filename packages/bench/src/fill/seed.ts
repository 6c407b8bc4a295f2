import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Checkpoint, RunRow, Store, StoredEvent } from '@weft/engine';
import { openSqliteStore } from '@weft/storage';
import { createRun, registerWorkflow, statusOf } from '../load/calls.ts';
import { KEY, weft } from '../hosts/contenders.ts';
import type { Lab } from '../measuring/scenario.ts';

/** A run as a real host has left it: the pattern that stores are filled with. */
export interface Seed {
  readonly row: RunRow;
  readonly events: readonly StoredEvent[];
  readonly checkpoint: Checkpoint | undefined;
}

const PATIENCE_MS = 10_000;

/** Has a host execute one run in a fresh folder until it is in the given status, stops it, and reads what it has stored. */
export async function makeSeed(
  lab: Lab,
  folder: string,
  { definition, workflowId, status }: { definition?: object; workflowId: string; status: string },
): Promise<Seed> {
  const server = await weft.start({ folder }, lab.echo);
  let runId: string;
  try {
    const target = { port: server.port, key: KEY };
    if (definition !== undefined) await registerWorkflow(target, definition);
    runId = await createRun(target, workflowId);
    await untilStatus(() => statusOf(target, runId), status);
  } finally {
    await server.stop();
  }
  return withStore(folder, (store) => readSeed(store, runId));
}

export async function readSeed(store: Store, runId: string): Promise<Seed> {
  const row = await store.readRun(runId, undefined);
  if (row === undefined) throw new Error(`the host has not kept run ${runId}`);
  const events = await store.readEvents(runId, 0, row.nextSeq, Number.MAX_SAFE_INTEGER);
  return { row, events, checkpoint: await store.readCheckpoint(runId) };
}

async function untilStatus(read: () => Promise<string>, wanted: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  let status = await read();
  while (status !== wanted && performance.now() < deadline) {
    await pause(20);
    status = await read();
  }
  if (status !== wanted) throw new Error(`the pattern run is ${status}, not ${wanted}`);
}

/** The store of a host's folder, while the host is not running. */
export async function withStore<Made>(folder: string, use: (store: Store) => Promise<Made>): Promise<Made> {
  const store = openSqliteStore({ path: join(folder, 'weft.db') });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** In order of time, as the host's own ids are, so that the indexes grow as they would. */
export function newRunId(at: number): string {
  const hex = at.toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export function newBatchId(): string {
  return randomBytes(16).toString('base64url');
}
