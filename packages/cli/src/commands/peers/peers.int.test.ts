import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlainPeer, type PlainPeer } from '../../testing/plain-peer.ts';
import { type Served, serveHere, weft } from '../../testing/served.ts';

const KEY = `weft_test_${'f'.repeat(43)}`;
const FIXTURE = 'conformance-a2a-task-roundtrip';

let cwd: string;
let peer: PlainPeer;
let served: Served;

async function configure(a2a: unknown): Promise<string[]> {
  await writeFile(join(cwd, 'weft.json'), JSON.stringify({ a2a }));
  return ['--config', 'weft.json'];
}

beforeAll(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), 'weft-peers-')));
  peer = await openPlainPeer();
  const flags = await configure({ peers: { gone: { url: 'http://127.0.0.1:9' } } });
  const env = { WEFT_API_KEY: KEY, OPENWOP_A2A_FAKE_PEER_URL: peer.url };
  served = await serveHere(cwd, ['--conformance', ...flags], env);
});

afterAll(async () => {
  await served?.stop();
  await peer?.close();
  await rm(cwd, { recursive: true, force: true });
});

async function call(method: string, path: string, body?: unknown): Promise<JsonObject> {
  const response = await fetch(`${served.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as JsonObject;
}

const begin = async () => String((await call('POST', '/v1/runs', { workflowId: FIXTURE }))['runId']);
const reaches = (runId: string, status: string) =>
  expect.poll(() => call('GET', `/v1/runs/${runId}`), { timeout: 15_000 }).toMatchObject({ status });

describe('weft peers', () => {
  it('lists the peers of the config file, and shows the card of one, or the error', async () => {
    const ask = (...argv: string[]) =>
      weft(cwd, ['peers', ...argv, '--url', served.url], { WEFT_API_KEY: KEY });

    const listed = await ask('ls');
    const tested = await ask('test', 'suite');
    const gone = await ask('test', 'gone', '--json');
    const unknown = await ask('test', 'nothing');

    expect(listed.out).toMatch(/suite\s+http:.*\n.*gone\s+http:\/\/127\.0\.0\.1:9/);
    expect(tested).toMatchObject({
      code: 0,
      out: expect.stringMatching(/suite is fake, A2A 0\.3\.0.*echo.*[0-9a-f]{12}/s),
    });
    expect(gone.code).toBe(1);
    expect(JSON.parse(gone.out)).toMatchObject({ error: { code: 'peer_unavailable' } });
    expect(unknown.code).toBe(3);
  });
});

describe('a workflow that calls a peer', () => {
  it('is advertised, and maps what becomes of the task', async () => {
    const { fixtures } = await call('GET', '/.well-known/openwop');
    peer.states.push('AUTH_REQUIRED');
    const waiting = await begin();
    await reaches(waiting, 'waiting-input');
    peer.states.push('REJECTED');
    const rejected = await begin();
    await reaches(rejected, 'failed');
    peer.states.push('INPUT_REQUIRED');
    const cancelled = await begin();
    await reaches(cancelled, 'waiting-input');

    await call('POST', `/v1/runs/${waiting}/interrupts/a2a-invoke`, {
      resumeValue: { answers: { answer: 'done' } },
    });
    await call('POST', `/v1/runs/${cancelled}/cancel`, {});

    await reaches(waiting, 'completed');
    await reaches(cancelled, 'cancelled');
    expect(fixtures).toContain(FIXTURE);
    expect(JSON.stringify(await call('GET', `/v1/runs/${rejected}`))).toContain('rejected_by_remote');
    expect(peer.asked.filter((each) => each.startsWith('POST'))).toEqual([
      'POST /tasks',
      'POST /tasks',
      'POST /tasks',
      'POST /tasks/task-1/messages',
    ]);
  });
});

describe('a host with bad peers in its config file', () => {
  it.each<[JsonObject, string]>([
    [{ peers: { a: { url: 'ftp://x' } } }, 'a2a.peers.a.url must be an http or https URL.'],
    [{ peers: { a: { url: 'https://x', apiKey: 'sk-1' } } }, 'a2a.peers.a.apiKey must be "secret:NAME"'],
    [
      { peers: { a: { url: 'https://x', apiKey: 'secret:missing' } } },
      'a2a.peers.a.apiKey names the secret "missing", which is not set.',
    ],
  ])('does not start, and names the field: %j', async (a2a, message) => {
    const { code, err } = await weft(cwd, [
      'serve',
      '--port',
      '0',
      '--data',
      'other',
      ...(await configure(a2a)),
    ]);

    expect(code).toBe(3);
    expect(err).toContain(message);
  });
});
