import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@weft/protocol';

/** Another tenant on the same host, with ordinary work: starts runs, follows them to their end, reads them. */
export interface NeighbourTenant {
  /** Latencies of its requests since the last call, in milliseconds. */
  take(): number[];
  /** Ends its clients; `lost` names acknowledged runs that did not complete and requests that failed. */
  stop(): Promise<{ readonly acknowledged: number; readonly lost: readonly string[] }>;
}

export interface NeighbourOptions {
  readonly port: number;
  readonly key: string;
  readonly clients: number;
  readonly serviceUrl: string;
  /** Types of packs that are installed for it. */
  readonly packTypes: readonly string[];
}

const PAUSE_MS = 15;
const ANSWER_WITHIN_MS = 60_000;

export async function startNeighbourTenant(options: NeighbourOptions): Promise<NeighbourTenant> {
  const { port, key, clients, serviceUrl, packTypes } = options;
  let latencies: number[] = [];
  const acknowledged: string[] = [];
  const wrong: string[] = [];
  let isOver = false;

  async function ask(method: 'GET' | 'POST', path: string, body?: JsonObject): Promise<JsonObject> {
    const asked = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await response.text();
    latencies.push(performance.now() - asked);
    if (response.status >= 400)
      throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
    return JSON.parse(text) as JsonObject;
  }

  async function work(): Promise<void> {
    for (let round = 0; !isOver; round += 1) {
      try {
        const workflowId = workflowOf(round);
        const { runId } = await ask('POST', '/v1/runs', { workflowId });
        acknowledged.push(String(runId));
        await ask('GET', `/v1/runs/${String(runId)}`);
        await ask('GET', `/v1/runs/${String(runId)}/events/poll?timeout=1`);
      } catch (error) {
        wrong.push(error instanceof Error ? error.message : String(error));
      }
      await pause(PAUSE_MS);
    }
  }

  /** Mostly steps; a call of a pack costs the machine more, and its own code is not what is to be felt. */
  function workflowOf(round: number): string {
    if (packTypes.length > 0 && round % PACKS_EVERY === 1) return 'packs';
    return round % 3 === 0 ? 'calls' : 'steps';
  }

  for (const definition of [steps(), calls(serviceUrl)])
    await ask('POST', '/v1/host/weft/workflows', definition);
  if (packTypes.length > 0)
    await untilAccepted(() => ask('POST', '/v1/host/weft/workflows', packs(packTypes)));
  latencies = [];
  const workers = Array.from({ length: clients }, work);

  return {
    take() {
      const taken = latencies;
      latencies = [];
      return taken;
    },
    async stop() {
      isOver = true;
      await Promise.all(workers);
      for (const runId of acknowledged) {
        const status = await statusOf(ask, runId);
        if (status !== 'completed') wrong.push(`run ${runId} is ${status}`);
      }
      return { acknowledged: acknowledged.length, lost: wrong };
    },
  };
}

const PACKS_EVERY = 20;
const ACCEPTED_WITHIN_MS = 60_000;

/** Their code is loaded after the host has started. */
async function untilAccepted(register: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + ACCEPTED_WITHIN_MS;
  for (;;) {
    try {
      await register();
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await pause(200);
  }
}

const TRIES = 200;

/** Those that were started last may still be at work. */
async function statusOf(
  ask: (method: 'GET', path: string) => Promise<JsonObject>,
  runId: string,
): Promise<string> {
  let status = 'unknown';
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      status = String((await ask('GET', `/v1/runs/${runId}`))['status']);
    } catch (error) {
      status = error instanceof Error ? error.message : 'unknown';
    }
    if (status !== 'running' && status !== 'pending') return status;
    await pause(50);
  }
  return status;
}

const node = (id: string, typeId: string, config: JsonObject = {}): JsonObject => ({
  id,
  typeId,
  name: id,
  position: { x: 0, y: 0 },
  config,
  inputs: {},
});

function row(id: string, nodes: JsonObject[]): JsonObject {
  return {
    id,
    name: id,
    version: '1',
    nodes,
    edges: nodes.slice(1).map((target, index) => ({
      id: `e${index}`,
      sourceNodeId: nodes[index]?.['id'] ?? '',
      targetNodeId: target['id'] ?? '',
    })),
    triggers: [{ id: 'm', type: 'manual' }],
    variables: [],
    metadata: {},
    settings: {},
  };
}

function steps(): JsonObject {
  return row(
    'steps',
    Array.from({ length: 10 }, (_, index) => node(`n${index}`, 'core.noop')),
  );
}

function packs(types: readonly string[]): JsonObject {
  return row(
    'packs',
    types.map((typeId, index) => node(`p${index}`, typeId)),
  );
}

function calls(serviceUrl: string): JsonObject {
  const url = `${serviceUrl}/echo`;
  return row(
    'calls',
    [0, 1, 2].map((index) => node(`c${index}`, 'core.http.request', { url, method: 'GET' })),
  );
}
