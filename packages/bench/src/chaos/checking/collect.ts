import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isTerminalStatus } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import type { FinalArtifact, FinalRun, Probe } from './history.ts';
import type { Answer, HttpClient } from '../workload/http.ts';
import type { Receipts } from '../workload/receipts.ts';

/** Reads the final state after the faults. */

/** A minute: on a busy machine a host takes long to start again. */
const TRIES = 600;
const TRY_EVERY_MS = 100;
const AT_ONCE = 8;
const PAGE = 1_000;

interface ListedRun {
  readonly runId: string;
  readonly workflowId: string;
  readonly status: string;
  readonly completedAt?: string;
}

/** Waits until no run is active, resuming those that are paused; false when that takes too long. */
export async function settle(
  http: HttpClient,
  { imports }: Pick<Receipts, 'imports'>,
  withinMs: number,
  note: (line: string) => void,
): Promise<boolean> {
  // They are only read, and stay as they are.
  const imported = new Set(imports.map(({ runId }) => runId));
  const until = performance.now() + withinMs;
  let nextNote = performance.now() + 5_000;
  for (;;) {
    const open = (await listRuns(http)).filter(
      ({ runId, status }) => !isOver(status) && !imported.has(runId),
    );
    if (open.length === 0) return true;
    if (performance.now() > until) return false;
    if (performance.now() > nextNote) {
      note(`settling: ${open.length} runs are active, such as ${open[0]?.runId ?? ''}`);
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

async function readRun(http: HttpClient, listed: ListedRun): Promise<FinalRun> {
  const { runId, workflowId } = listed;
  // In this order: a run that ends in between has a log that ends too.
  const { status: code, json } = await askUntilAnswered(http, `/v1/runs/${runId}`, [GONE]);
  if (code === GONE) return withoutLog(listed, json);
  const status = String(json['status']);
  const log = await readLog(http, runId);
  // A process may remember how it ended, and no longer how it began.
  if (!Array.isArray(log)) return withoutLog(listed, log);
  const { parentRunId, tags, weft } = json;
  const { fork, imported, source } = weft as HostMembers;
  const why =
    isOver(status) || imported !== undefined
      ? undefined
      : (await askUntilAnswered(http, `/v1/host/weft/runs/${runId}/why`)).json;
  return {
    runId,
    workflowId,
    status,
    tags: Array.isArray(tags) ? tags.map(String) : [],
    log,
    notes: await readNotes(http, runId),
    artifacts: await readArtifacts(http, runId),
    isImported: imported !== undefined,
    ...(fork !== undefined && { fork }),
    ...(source !== undefined && { source }),
    ...(listed.completedAt !== undefined && { endedAt: listed.completedAt }),
    ...(typeof parentRunId === 'string' && { parentRunId }),
    ...(why !== undefined && { waitingFor: String(why['waitingFor']) }),
  };
}

interface HostMembers extends Pick<FinalRun, 'fork' | 'source'> {
  readonly imported?: JsonObject;
}

const GONE = 410;

/** A fork that lost its beginning with the run it came from. */
function withoutLog(
  { runId, workflowId, status, completedAt }: ListedRun,
  { details }: JsonObject,
): FinalRun {
  const { sourceRunId, fromSeq } = details as { sourceRunId: string; fromSeq: number };
  const fork = { sourceRunId, fromSeq, mode: 'lost' };
  return {
    ...{ runId, workflowId, status, tags: [], log: [], fork },
    ...(completedAt !== undefined && { endedAt: completedAt }),
  };
}

async function readNotes(http: HttpClient, runId: string): Promise<string[]> {
  const { json } = await askUntilAnswered(http, `/v1/runs/${runId}/annotations`);
  return (json['annotations'] as { note?: string }[]).map(({ note }) => note ?? '');
}

async function readArtifacts(http: HttpClient, runId: string): Promise<FinalArtifact[]> {
  const { json } = await askUntilAnswered(http, `/v1/host/weft/runs/${runId}/artifacts`);
  const listed = json['artifacts'] as { artifactId: string; digest: string }[];
  const found: FinalArtifact[] = [];
  for (const { artifactId, digest } of listed) {
    const path = `/v1/runs/${runId}/artifacts/${encodeURIComponent(artifactId)}`;
    found.push({ artifactId, digest, bytes: await digestOf(http, path) });
  }
  return found;
}

async function digestOf(http: HttpClient, path: string): Promise<string> {
  const bytes = await untilAnswered(path, async () => {
    try {
      const response = await http.open(path, AbortSignal.timeout(READ_WITHIN_MS));
      return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
    } catch {
      return undefined;
    }
  });
  return createHash('sha256').update(bytes).digest('hex');
}

/** Asks for runs that were removed or erased, in every way there is. */
export async function probeGone(http: HttpClient, { removals, erasures }: Receipts): Promise<Probe[]> {
  const probes: Probe[] = [];
  const runIds = new Set([...removals, ...erasures].map(({ runId }) => runId));
  for (const runId of runIds) {
    for (const of of PROBED) {
      const path = of.replace('ID', runId);
      const answer = await http.askUntilAnswered('GET', path);
      if (answer !== undefined)
        probes.push({ runId, request: `GET ${path}`, status: answer.status, text: answer.text });
    }
    const body = { mode: 'replay' };
    const answer = await http.askUntilAnswered('POST', `/v1/runs/${runId}:fork`, { body });
    if (answer !== undefined)
      probes.push({ runId, request: 'POST :fork', status: answer.status, text: answer.text });
  }
  return probes;
}

const PROBED = [
  '/v1/runs/ID',
  '/v1/runs/ID/events/poll?timeout=1&limit=1000',
  '/v1/runs/ID/debug-bundle',
  '/v1/host/weft/runs/ID/state?at=0',
  '/v1/host/weft/runs/ID/why',
  '/v1/host/weft/runs/ID/artifacts',
  '/v1/runs/ID/annotations',
];
const READ_WITHIN_MS = 10_000;

/** The refusal, where the log has lost its beginning. */
async function readLog(http: HttpClient, runId: string): Promise<string[] | JsonObject> {
  const log: string[] = [];
  for (;;) {
    const after = log.length === 0 ? '' : `&lastSequence=${log.length - 1}`;
    const path = `/v1/runs/${runId}/events/poll?timeout=1&limit=${PAGE}${after}`;
    const { status, json } = await askUntilAnswered(http, path, [GONE]);
    if (status === GONE) return json;
    const events = json['events'] as JsonObject[];
    log.push(...events.map((event) => JSON.stringify(event)));
    if (events.length < PAGE) return log;
  }
}

async function listRuns(http: HttpClient): Promise<ListedRun[]> {
  const runs: ListedRun[] = [];
  for (let cursor = ''; ; ) {
    const { json } = await askUntilAnswered(http, `/v1/host/weft/runs?limit=500${cursor}`);
    runs.push(...(json['runs'] as unknown as ListedRun[]));
    const next = json['nextCursor'];
    if (typeof next !== 'string') return runs;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}

export async function listQuarantined(http: HttpClient): Promise<string[]> {
  const { json } = await askUntilAnswered(http, '/v1/host/weft/runs?quarantined=true&limit=500');
  return (json['runs'] as unknown as ListedRun[]).map(({ runId }) => runId);
}

async function askUntilAnswered(
  http: HttpClient,
  path: string,
  others: readonly number[] = [],
): Promise<Answer> {
  return await untilAnswered(path, async () => {
    const answer = await http.ask('GET', path);
    return answer?.status === 200 || others.includes(answer?.status ?? 0) ? answer : undefined;
  });
}

async function untilAnswered<Found>(path: string, ask: () => Promise<Found | undefined>): Promise<Found> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await ask();
    if (found !== undefined) return found;
    await pause(TRY_EVERY_MS);
  }
  throw new Error(`GET ${path} was not answered as it should be, although everything runs`);
}

function isOver(status: string): boolean {
  return isTerminalStatus(status);
}
