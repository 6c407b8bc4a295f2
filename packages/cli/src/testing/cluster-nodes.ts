import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createSseParser, type JsonObject } from '@weft/protocol';
import { freePort, type HostProcess, startHostProcess } from './host-process.ts';

/** Hosts in processes of their own, on one database and one schema. */
export interface ClusterNodes {
  readonly apiKey: string;
  /** Starts another one, or the one that had this place again, on its port. */
  start(place: number): Promise<HostProcess>;
  node(place: number): HostProcess;
  /** Asks one of them. */
  call(place: number, method: string, path: string, options?: Call): Promise<Answer>;
  create(place: number, workflowId: string, rest?: object, headers?: Record<string, string>): Promise<string>;
  /** Waits until the run has one of the statuses, as this one sees it. */
  reaches(place: number, runId: string, ...statuses: string[]): Promise<JsonObject>;
  events(place: number, runId: string): Promise<ClusterEvent[]>;
  /** Follows the run's events until its end. */
  follow(place: number, runId: string): Promise<readonly Heard[]>;
  stop(): Promise<void>;
}

export interface ClusterEvent {
  readonly eventId: string;
  readonly sequence: number;
  readonly type: string;
  readonly timestamp: string;
  readonly nodeId?: string;
  readonly payload: JsonObject;
}

export interface Heard {
  readonly sequence: number;
  readonly event: ClusterEvent;
  readonly at: number;
}

export interface Call {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly key?: string;
}

export interface Answer {
  readonly status: number;
  readonly json: JsonObject;
}

export interface ClusterOptions {
  readonly storeUrl: string;
  readonly schema: string;
  readonly folder: string;
  readonly flags: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const LONGEST_WAIT_MS = 30_000;

export function clusterNodes(options: ClusterOptions): ClusterNodes {
  const { storeUrl, schema, folder, flags } = options;
  const apiKey = `weft_test_${'c'.repeat(43)}`;
  const { privateKey } = generateKeyPairSync('ed25519');
  const env = {
    WEFT_STORE: storeUrl,
    WEFT_STORE_SCHEMA: schema,
    WEFT_SECRETS_KEY: randomBytes(32).toString('base64url'),
    WEFT_AUDIT_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ...options.env,
  };
  const nodes: HostProcess[] = [];
  const ports: number[] = [];

  function node(place: number): HostProcess {
    const found = nodes[place];
    if (found === undefined) throw new Error(`there is no node ${place}`);
    return found;
  }

  async function call(place: number, method: string, path: string, options: Call = {}): Promise<Answer> {
    const { body, headers = {}, key = apiKey } = options;
    const response = await fetch(`${node(place).url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: (text === '' ? {} : JSON.parse(text)) as JsonObject };
  }

  async function reaches(place: number, runId: string, ...statuses: string[]): Promise<JsonObject> {
    const until = Date.now() + LONGEST_WAIT_MS;
    let last: JsonObject = {};
    while (Date.now() < until) {
      last = (await call(place, 'GET', `/v1/runs/${runId}`)).json;
      if (statuses.includes(String(last['status']))) return last;
      await pause(25);
    }
    throw new Error(`the run did not become ${statuses.join(' or ')}: ${JSON.stringify(last)}`);
  }

  return {
    apiKey,
    node,
    call,
    reaches,
    async start(place) {
      ports[place] ??= await freePort();
      const started = await startHostProcess({
        dataFolder: join(folder, `unused-${place}`),
        port: ports[place],
        apiKey,
        env,
        flags: ['--conformance', ...flags],
      });
      nodes[place] = started;
      return started;
    },
    async create(place, workflowId, rest = {}, headers = {}) {
      const { status, json } = await call(place, 'POST', '/v1/runs', {
        body: { workflowId, ...rest },
        headers,
      });
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(json)}`);
      return String(json['runId']);
    },
    events: async (place, runId) =>
      (await call(place, 'GET', `/v1/runs/${runId}/events/poll?limit=1000`)).json[
        'events'
      ] as unknown as ClusterEvent[],
    follow: (place, runId) => follow(`${node(place).url}/v1/runs/${runId}/events?streamMode=debug`, apiKey),
    async stop() {
      await Promise.all(
        nodes.map((each) => {
          each.thaw();
          return each.stop();
        }),
      );
    },
  };
}

async function follow(url: string, apiKey: string): Promise<readonly Heard[]> {
  const heard: Heard[] = [];
  const parser = createSseParser(({ id, data }) => {
    if (id === undefined) return;
    heard.push({ sequence: Number(id), event: JSON.parse(data) as ClusterEvent, at: Date.now() });
  });
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${apiKey}`, accept: 'text/event-stream' },
    signal: AbortSignal.timeout(LONGEST_WAIT_MS),
  });
  if (!response.ok || response.body === null) throw new Error(`the stream answered ${response.status}`);
  const decoder = new TextDecoder();
  for await (const chunk of response.body) parser.push(decoder.decode(chunk as Uint8Array, { stream: true }));
  return heard;
}
