import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@weft/protocol';
import { expect } from 'vitest';
import { type Served, serveHere } from './served.ts';
import { storeUnderTest } from './store-under-test.ts';
import { transportUnderTest } from './transport-under-test.ts';

const API_KEY = `weft_test_${'f'.repeat(43)}`;

const published = process.env['WEFT_OPENWOP_DATA'];

/** The workflows under test, with the flags that bring them: our own, and the public ones where they are next to the checkout. */
export const FIXTURE_SOURCES: readonly (readonly [title: string, flags: readonly string[]])[] = [
  ['the built-in fixtures', []],
  ...(published === undefined
    ? []
    : [['extra check: the public fixtures', ['--workflows', join(published, 'fixtures')]] as const]),
];

export interface FixtureEvent {
  readonly eventId: string;
  readonly type: string;
  readonly nodeId?: string;
  readonly causationId?: string;
  readonly payload: JsonObject;
}

export interface FixtureHost {
  readonly host: Served;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; headers: Headers; json: JsonObject }>;
  create(workflowId: string, rest?: object, headers?: Record<string, string>): Promise<string>;
  reaches(runId: string, ...statuses: string[]): Promise<JsonObject>;
  ended(runId: string): Promise<JsonObject>;
  events(runId: string): Promise<FixtureEvent[]>;
  answer(runId: string, nodeId: string, resumeValue: unknown): Promise<{ status: number; json: JsonObject }>;
  stop(): Promise<void>;
}

/** A host with every fixture registered, and the few calls that drive them. */
export async function serveFixtures(flags: readonly string[]): Promise<FixtureHost> {
  const folder = await mkdtemp(join(tmpdir(), 'weft-fixtures-'));
  const all = ['--conformance', ...flags, ...storeUnderTest().flags(), ...transportUnderTest().flags];
  const host = await serveHere(folder, all, { WEFT_API_KEY: API_KEY });

  const overHttp: FixtureHost['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${host.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      headers: response.headers,
      json: (await response.json()) as JsonObject,
    };
  };
  const { call, close } = await transportUnderTest().open({ url: host.url, key: API_KEY, overHttp });
  const reaches: FixtureHost['reaches'] = async (runId, ...statuses) => {
    for (let waited = 0; waited < 400; waited += 1) {
      const { json } = await call('GET', `/v1/runs/${runId}`);
      if (statuses.includes(String(json['status']))) return json;
      await pause(25);
    }
    throw new Error(`the run did not become ${statuses.join(' or ')}`);
  };
  return {
    host,
    call,
    reaches,
    async create(workflowId, rest = {}, headers = {}) {
      const answer = await call('POST', '/v1/runs', { workflowId, ...rest }, headers);
      expect(answer.status, JSON.stringify(answer.json)).toBe(201);
      return String(answer.json['runId']);
    },
    ended: (runId) => reaches(runId, 'completed', 'failed', 'cancelled'),
    events: async (runId) =>
      (await call('GET', `/v1/runs/${runId}/events/poll`)).json['events'] as unknown as FixtureEvent[],
    answer: (runId, nodeId, resumeValue) =>
      call('POST', `/v1/runs/${runId}/interrupts/${nodeId}`, { resumeValue }),
    async stop() {
      close();
      await host.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
