import { randomBytes } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import {
  ALL_SCOPES,
  createHost,
  ensureFirstKey,
  type Host,
  type HostOptions,
  type Log,
  newKey,
  openMemoryStore,
} from '@weft/engine';
import { CONFORMANCE } from '@weft/engine/conformance';
import type { Json } from '@weft/protocol';
import type { FastifyInstance } from 'fastify';
import { createApp } from '../app.ts';
import type { ServerOptions } from '../options.ts';
import { checkExchange } from './contract.ts';
import { FAIL, NOOP, QUESTIONS, SECRET, STEPS, WAIT } from './definitions.ts';

/** A real host on the memory store behind a real app, with two tenants. Every answer is checked against the table of routes. */
export interface Harness {
  readonly app: FastifyInstance;
  readonly host: Host;
  /** Of the tenant `default`, with every scope. */
  readonly key: string;
  readonly otherTenantKey: string;
  call(method: Method, url: string, options?: CallOptions): Promise<Answer>;
  /** Starts a run of one of the test workflows. */
  start(workflowId: string, body?: Record<string, Json>): Promise<{ runId: string }>;
  /** Waits until the run has this status. */
  reaches(runId: string, status: string): Promise<void>;
  createKey(request: Record<string, Json>): Promise<{ key: string; keyId: string }>;
  keyWithout(scope: string): Promise<string>;
  close(): Promise<void>;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface CallOptions {
  /** `null` sends none. */
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
  readonly body?: Json | undefined;
  readonly raw?: string | Buffer;
  /** The address of the other end of the connection; loopback when left out. */
  readonly from?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly text: string;
  readonly json: Loose;
}

/** A parsed body, read loosely: the contract has checked its shape already. */
export interface Loose {
  readonly [name: string]: Loose;
}

const SECRETS_KEY = new Uint8Array(32).fill(42);

export async function openHarness(
  options: ServerOptions = {},
  wrap: (host: Host) => Host = (host) => host,
  log: Log = () => undefined,
  hostOptions: Partial<HostOptions> = {},
): Promise<Harness> {
  const store = hostOptions.store ?? openMemoryStore();
  const host = createHost({
    store,
    version: '0.0.0-test',
    conformance: CONFORMANCE,
    secretsKey: SECRETS_KEY,
    ...hostOptions,
  });
  const [key, otherTenantKey] = [newKey(randomBytes, true), newKey(randomBytes, true)];
  for (const [tenant, first] of [
    ['default', key],
    ['other', otherTenantKey],
  ] as const) {
    await ensureFirstKey({ store, key: first, test: true, tenant, now: Date.now(), random: randomBytes });
  }
  await host.start();
  for (const owner of [key, otherTenantKey]) await registerAll(host, owner);
  const app = createApp({ host: wrap(host), options, log });

  const call: Harness['call'] = async (
    method,
    url,
    { key: as = key, headers = {}, body, raw, from } = {},
  ) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await app.inject({
      method,
      url,
      headers: {
        ...(as === null ? {} : { authorization: `Bearer ${as}` }),
        ...(payload === undefined || raw !== undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined ? {} : { payload }),
      ...(from === undefined ? {} : { remoteAddress: from }),
    });
    const contentType = String(response.headers['content-type'] ?? '');
    checkExchange({
      method,
      url,
      status: response.statusCode,
      headers: response.headers,
      text: response.payload,
    });
    const json = contentType.startsWith('application/json') ? (JSON.parse(response.payload) as Loose) : {};
    return { status: response.statusCode, headers: response.headers, text: response.payload, json };
  };

  async function createKey(request: Record<string, Json>): Promise<{ key: string; keyId: string }> {
    const answer = await call('POST', '/v1/host/weft/keys', {
      body: { principal: 'tester', kind: 'service', ...request },
    });
    if (answer.status !== 201) throw new Error(answer.text);
    return JSON.parse(answer.text) as { key: string; keyId: string };
  }

  return {
    app,
    host,
    key,
    otherTenantKey,
    call,
    createKey,
    async start(workflowId, body = {}) {
      const answer = await call('POST', '/v1/runs', { body: { workflowId, ...body } });
      if (answer.status !== 201) throw new Error(answer.text);
      return JSON.parse(answer.text) as { runId: string };
    },
    async reaches(runId, status) {
      const isReached = async (): Promise<boolean> =>
        (JSON.parse((await call('GET', `/v1/runs/${runId}`)).text) as { status: string }).status === status;
      for (const until = Date.now() + 10_000; !(await isReached()); ) {
        if (Date.now() > until) throw new Error(`The run did not become ${status}.`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async keyWithout(scope) {
      return (await createKey({ scopes: ALL_SCOPES.filter((each) => each !== scope) })).key;
    },
    async close() {
      await app.close();
      await host.stop(1_000);
    },
  };
}

async function registerAll(host: Host, key: string): Promise<void> {
  const owner = await host.authenticate(key);
  if (owner.state !== 'ok') throw new Error('the first key is not known');
  for (const definition of [NOOP, WAIT, FAIL, STEPS, SECRET, ...QUESTIONS]) {
    await host.workflows.register(owner.caller, definition, { strict: true, dev: false });
  }
}
