import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json, JsonObject } from '@weft/protocol';

/** One tenant with an ordinary key, and whatever it can think of. */
export interface Attacker {
  /** A server of its own on loopback, which the host may call. */
  readonly serviceUrl: string;
  readonly port: number;
  readonly key: string;
  ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: string | Json): Promise<Answer>;
  /** Registers a definition under a name of its own; answers that name. */
  registers(definition: JsonObject): Promise<string>;
  /** Registers a definition, starts it, and waits for its end; answers what became of it. */
  runs(definition: JsonObject, request?: JsonObject, patienceMs?: number): Promise<string>;
  /** A connection of which nothing is sent but these bytes; closed when the attack is over. */
  socket(bytes: string): Promise<Socket>;
  /** Closes what is open, and cancels what still runs. */
  disconnect(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly json: JsonObject;
}

const PATIENCE_MS = 15_000;
const ENDED = new Set(['completed', 'failed', 'cancelled']);

export interface AttackerOptions {
  readonly port: number;
  readonly key: string;
  readonly serviceUrl: string;
  /** Begins the names of what it registers. */
  readonly prefix: string;
}

export function createAttacker({ port, key, serviceUrl, prefix }: AttackerOptions): Attacker {
  const sockets: Socket[] = [];
  let names = 0;

  const ask: Attacker['ask'] = async (method, path, body) => {
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const text = await response.text();
      return { status: response.status, json: jsonOrNothing(text) };
    } catch (error) {
      return { status: 0, json: { error: error instanceof Error ? error.name : 'no answer' } };
    }
  };

  async function endOf(runId: string, patienceMs: number): Promise<string> {
    const until = performance.now() + patienceMs;
    while (performance.now() < until) {
      const { status, json } = await ask('GET', `/v1/runs/${runId}`);
      if (status !== 200) return `${status} ${String(json['error'])}`;
      if (ENDED.has(String(json['status'])))
        return `${String(json['status'])} ${codeOf(json['error'])}`.trim();
      await pause(50);
    }
    await ask('POST', `/v1/runs/${runId}/cancel`, {});
    return 'not over, cancelled';
  }

  return {
    serviceUrl,
    port,
    key,
    ask,
    async registers(definition) {
      names += 1;
      const id = `${prefix}-${names}`;
      await ask('POST', '/v1/host/weft/workflows', { ...definition, id });
      return id;
    },
    async runs(definition, request = {}, patienceMs = PATIENCE_MS) {
      names += 1;
      const id = `${prefix}-${names}`;
      const registered = await ask('POST', '/v1/host/weft/workflows', { ...definition, id });
      if (registered.status !== 201) return `refused ${registered.status} ${problemOf(registered.json)}`;
      const created = await ask('POST', '/v1/runs', { workflowId: id, ...request });
      if (created.status !== 201) return `not started ${created.status} ${String(created.json['error'])}`;
      return endOf(String(created.json['runId']), patienceMs);
    },
    socket(bytes) {
      return new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.write(bytes, 'latin1');
          resolve(socket);
        });
        socket.on('error', () => resolve(socket));
        sockets.push(socket);
      });
    },
    async disconnect() {
      for (const socket of sockets.splice(0)) socket.destroy();
      const { json } = await ask(
        'GET',
        '/v1/host/weft/runs?status=pending,running,waiting-approval&limit=500',
      );
      const runs = Array.isArray(json['runs']) ? (json['runs'] as JsonObject[]) : [];
      const runIds = runs.map((run) => String(run['runId']));
      for (let from = 0; from < runIds.length; from += 100)
        await ask('POST', '/v1/runs:bulk-cancel', { runIds: runIds.slice(from, from + 100) });
    },
  };
}

function jsonOrNothing(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}

function codeOf(error: Json | undefined): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error['code']) : '';
}

/** The code of the first problem of a refused definition, or of the refusal itself. */
function problemOf(json: JsonObject): string {
  const details = json['details'] as
    | { problems?: { code?: string }[]; errors?: { code?: string }[] }
    | undefined;
  return details?.problems?.[0]?.code ?? details?.errors?.[0]?.code ?? String(json['error']);
}
