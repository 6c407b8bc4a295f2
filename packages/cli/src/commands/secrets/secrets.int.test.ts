import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serveHere, weft } from '../../testing/served.ts';

const VALUE = 'sesame-open-now';
const PAGE = '<h1>hello</h1>'.repeat(30_000);

let cwd: string;
let served: Served;
let peer: Server;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'weft-secrets-'));
  peer = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(PAGE));
  peer.listen(0, '127.0.0.1');
  await once(peer, 'listening');
  const { port } = peer.address() as AddressInfo;
  await writeFile(join(cwd, 'fetch.json'), JSON.stringify(fetchWorkflow(port)));
  served = await serveHere(cwd, ['--allow-egress', `127.0.0.1:${port}`]);
});

afterAll(async () => {
  await served.stop();
  peer.close();
  await rm(cwd, { recursive: true, force: true });
});

function fetchWorkflow(port: number): object {
  const config = { url: `http://127.0.0.1:${port}/`, saveAs: { name: 'page.html' } };
  return {
    id: 'fetch',
    name: 'Fetch',
    version: '1.0.0',
    nodes: [
      { id: 'get', typeId: 'core.http.request', name: 'get', position: { x: 0, y: 0 }, config, inputs: {} },
    ],
    edges: [],
    triggers: [{ id: 'manual', type: 'manual', enabled: true }],
    variables: [],
    metadata: { tags: [] },
    settings: { timeout: 60_000 },
  };
}

describe('weft secrets', () => {
  it('sets, lists and removes a secret, and shows its value nowhere', async () => {
    const set = await weft(cwd, ['secrets', 'set', 'db', '--from-env', 'DB'], { DB: VALUE });
    const own = await weft(cwd, ['secrets', 'set', 'db', '--user', '--from-env', 'DB', '--json'], {
      DB: VALUE,
    });
    const listed = await weft(cwd, ['secrets', 'ls']);
    const removed = await weft(cwd, ['secrets', 'rm', 'db', '--user']);
    const left = await weft(cwd, ['secrets', 'ls', '--json']);

    expect(set).toMatchObject({ code: 0, out: 'db  set for the tenant\n' });
    expect(JSON.parse(own.out)).toMatchObject({ id: 'db', scope: 'user', usable: true });
    expect(listed.out).toMatch(/db +tenant +usable +just now\n.*db +user +usable/s);
    expect(removed).toMatchObject({ code: 0, out: 'db  removed\n' });
    expect(left.out.trim().split('\n')).toHaveLength(1);
    expect(JSON.stringify([set, own, listed, removed, left])).not.toContain(VALUE);
  });

  it('leaves no value in any file of the data folder', async () => {
    await weft(cwd, ['secrets', 'set', 'db', '--from-env', 'DB'], { DB: VALUE });

    const files = await readdir(join(cwd, '.weft'));
    const contents = await Promise.all(files.map((file) => readFile(join(cwd, '.weft', file), 'latin1')));

    expect(files).toContain('secrets.key');
    expect(contents.join('')).not.toContain(VALUE);
  });

  it('says what is wrong with a value or an id', async () => {
    const short = await weft(cwd, ['secrets', 'set', 'db', '--from-env', 'DB'], { DB: 'short' });
    const gone = await weft(cwd, ['secrets', 'rm', 'unknown']);

    expect(short.code).toBe(3);
    expect(short.err).toContain('value');
    expect(gone).toMatchObject({ code: 3, err: expect.stringContaining('There is no secret') });
  });
});

describe('weft runs artifact', () => {
  it('lists what a run has produced and saves it', async () => {
    await weft(cwd, ['workflows', 'register', 'fetch.json']);
    const run = await weft(cwd, ['run', 'fetch', '--watch', '--json']);
    const runId = /"runId":"([^"]+)"/.exec(run.out)?.[1] ?? '';

    const listed = await weft(cwd, ['runs', 'artifact', runId]);
    const saved = await weft(cwd, ['runs', 'artifact', runId, 'get:0:page.html', '-o', 'page.html']);

    expect(listed.out).toMatch(/get:0:page\.html +page\.html +text\/html +420000/);
    expect(saved).toMatchObject({ code: 0, out: `${join(cwd, 'page.html')}  420000 bytes\n` });
    expect(await readFile(join(cwd, 'page.html'), 'utf8')).toBe(PAGE);
    expect((await readdir(cwd)).filter((file) => file.includes('.part-'))).toEqual([]);
  });

  it('says where it cannot save, and what does not exist', async () => {
    const unknown = await weft(cwd, ['runs', 'artifact', 'nope', 'x', '-o', 'x']);
    const nowhere = await weft(cwd, ['runs', 'artifact', 'nope', 'x']);

    expect(unknown).toMatchObject({ code: 3, err: expect.stringContaining('No run with this id') });
    expect(nowhere).toMatchObject({ code: 2, err: expect.stringContaining('-o FILE') });
  });
});
