import { setTimeout as pause } from 'node:timers/promises';
import { isTerminalStatus } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import type { FinalRun } from './history.ts';
import type { Answer, HttpClient } from './http.ts';

/** Reads, after the storm, what is there. */

const TRIES = 100;
const TRY_EVERY_MS = 100;
const AT_ONCE = 8;
const PAGE = 1_000;

interface ListedRun {
  readonly runId: string;
  readonly workflowId: string;
  readonly status: string;
}

/** Waits until no run is under way any more, resuming those that are paused; false when that takes too long. */
export async function settle(
  http: HttpClient,
  withinMs: number,
  note: (line: string) => void,
): Promise<boolean> {
  const until = performance.now() + withinMs;
  let nextNote = performance.now() + 5_000;
  for (;;) {
    const open = (await listRuns(http)).filter(({ status }) => !isOver(status));
    if (open.length === 0) return true;
    if (performance.now() > until) return false;
    if (performance.now() > nextNote) {
      note(`settling: ${open.length} runs are under way`);
      nextNote = performance.now() + 5_000;
    }
    for (const { runId, status } of open)
      if (status === 'paused') await http.ask('POST', `/v1/runs/${runId}:resume`, { body: {} });
    await pause(250);
  }
}

export async function collectRuns(http: HttpClient): Promise<FinalRun[]> {
  const waiting = await listRuns(http);
  const runs: FinalRun[] = [];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
        runs.push(await readRun(http, next));
    }),
  );
  return runs;
}

async function readRun(http: HttpClient, { runId, workflowId }: ListedRun): Promise<FinalRun> {
  // In this order: a run that ends in between has a log that ends too.
  const { json } = await insist(http, `/v1/runs/${runId}`);
  const status = String(json['status']);
  const log = await readLog(http, runId);
  const { parentRunId, tags } = json;
  const why = isOver(status) ? undefined : (await insist(http, `/v1/host/weft/runs/${runId}/why`)).json;
  return {
    runId,
    workflowId,
    status,
    tags: Array.isArray(tags) ? tags.map(String) : [],
    log,
    ...(typeof parentRunId === 'string' && { parentRunId }),
    ...(why !== undefined && { waitingFor: String(why['waitingFor']) }),
  };
}

async function readLog(http: HttpClient, runId: string): Promise<string[]> {
  const log: string[] = [];
  for (;;) {
    const after = log.length === 0 ? '' : `&lastSequence=${log.length - 1}`;
    const { json } = await insist(http, `/v1/runs/${runId}/events/poll?timeout=1&limit=${PAGE}${after}`);
    const events = json['events'] as JsonObject[];
    log.push(...events.map((event) => JSON.stringify(event)));
    if (events.length < PAGE) return log;
  }
}

async function listRuns(http: HttpClient): Promise<ListedRun[]> {
  const runs: ListedRun[] = [];
  for (let cursor = ''; ; ) {
    const { json } = await insist(http, `/v1/host/weft/runs?limit=500${cursor}`);
    runs.push(...(json['runs'] as unknown as ListedRun[]));
    const next = json['nextCursor'];
    if (typeof next !== 'string') return runs;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}

async function insist(http: HttpClient, path: string): Promise<Answer> {
  let last: Answer | undefined;
  for (let tries = 0; tries < TRIES; tries += 1) {
    last = await http.ask('GET', path);
    if (last?.status === 200) return last;
    await pause(TRY_EVERY_MS);
  }
  throw new Error(`GET ${path} was answered ${JSON.stringify(last)}, although everything runs`);
}

function isOver(status: string): boolean {
  return isTerminalStatus(status);
}
