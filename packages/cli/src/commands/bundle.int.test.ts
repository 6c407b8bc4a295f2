import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, ensureFirstKey, type Host, newKey, openMemoryStore } from '@weft/engine';
import { canonicalJson, type DebugBundle, type Json } from '@weft/protocol';
import { createApp, type RunningServer, startServer } from '@weft/server';
import { type Client, createClient } from '@weft/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../main.ts';
import { recordedIo } from '../testing/recorded-io.ts';

let folder: string;
let host: Host;
let server: RunningServer;
let key: string;
let client: Client;
let runId: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-bundle-'));
  const store = openMemoryStore();
  host = createHost({ store, version: '0.0.0' });
  await host.start();
  key = newKey(randomBytes, false);
  await ensureFirstKey({ store, key, test: false, tenant: 'default', now: Date.now(), random: randomBytes });
  const app = createApp({ host, options: {}, log: () => undefined });
  server = await startServer(app, { host: '127.0.0.1', port: 0, graceMs: 200 });
  client = createClient({ baseUrl: server.url, apiKey: key });
  await client.workflows.register({
    id: 'greet',
    name: 'Greet',
    version: '1.0',
    nodes: [
      { id: 'hello', typeId: 'core.noop', name: 'Hello', position: { x: 0, y: 0 }, config: {}, inputs: {} },
    ],
    edges: [],
    triggers: [{ id: 'manual', type: 'manual' }],
    variables: [],
    metadata: {},
    settings: {},
  });
  ({ runId } = await client.runs.create({ workflowId: 'greet', inputs: { city: 'Braunschweig' } }));
  for await (const _event of client.runs.events(runId));
});

afterAll(async () => {
  await server.shutdown();
  await host.stop(200);
  await rm(folder, { recursive: true, force: true });
});

async function weft(argv: string[], isTTY = false): Promise<{ code: number; out: string; err: string }> {
  const io = recordedIo({ cwd: folder, env: { WEFT_URL: server.url, WEFT_API_KEY: key }, isTTY });
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err() };
}

describe('weft bundle', () => {
  it('saves the run under its own name and says what is in it', async () => {
    const { code, out } = await weft(['bundle', runId]);

    const text = await readFile(join(folder, `${runId}.bundle.json`), 'utf8');
    const { weft: extras, ...rest } = JSON.parse(text) as DebugBundle;
    const digest = createHash('sha256')
      .update(canonicalJson(rest as unknown as Json))
      .digest('hex');
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(`^${runId}\\.bundle\\.json  \\d+ events, 2 values masked, [\\d.]+ KiB\n$`),
    );
    expect(extras?.digest).toBe(digest);
    expect(text).not.toContain('Braunschweig');
    expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/part$/));
  });

  it('says when it is cut, and how to get the rest', async () => {
    const { out, err } = await weft(['bundle', runId, '-o', 'cut.json', '--max-events', '2']);

    expect(out).toMatch(/^cut\.json {2}the first 2 of \d+ events,/);
    expect(err).toContain(`weft runs events ${runId} --json`);
  });

  it('goes to standard output alone when asked to', async () => {
    const { out, err } = await weft(['bundle', runId, '-o', '-']);

    expect(JSON.parse(out)).toHaveProperty('run.runId', runId);
    expect(err).toMatch(/events, 2 values masked/);
  });

  it('answers programs with one object', async () => {
    const { out } = await weft(['bundle', runId, '-o', 'for-programs.json', '--json']);

    expect(JSON.parse(out)).toMatchObject({
      file: 'for-programs.json',
      truncated: false,
      masked: 2,
      signed: false,
    });
  });

  it('shows its progress on a terminal only', async () => {
    const { err } = await weft(['bundle', runId, '-o', 'seen.json'], true);

    expect(err).toContain('Reading the bundle');
  });

  it('fails with a reason when the file cannot be written or the run is unknown', async () => {
    const unwritable = await weft(['bundle', runId, '-o', 'no/such/folder.json']);
    const unknown = await weft(['bundle', 'nothing']);
    const usage = await weft(['bundle', runId, '--max-events', 'many']);

    expect([unwritable.code, unknown.code, usage.code]).toEqual([3, 3, 2]);
    expect(unwritable.err).toContain('cannot be written');
  });
});

describe('weft annotate', () => {
  it.each([
    [['--rating', '4'], 'rating: 4'],
    [['--label', 'duplicate', '--node', 'hello'], 'label: duplicate'],
    [['--flag', '--note', 'look'], 'flag'],
    [['--correction', 'it is 12'], 'correction: it is 12'],
  ])('says it: %j', async (flags, text) => {
    const { code, out } = await weft(['annotate', runId, ...flags]);

    expect(code).toBe(0);
    expect(out).toMatch(/^ann_\S+ {2}/);
    expect(out).toContain(text);
  });

  it.each([[[]], [['--flag', '--rating', '1']], [['--rating', '6']]])(
    'wants exactly one good signal: %j',
    async (flags) => {
      const { code, err } = await weft(['annotate', runId, ...flags]);

      expect(code).toBe(2);
      expect(err).toContain('--rating');
    },
  );

  it('passes on what the host says about a node that does not exist', async () => {
    const { code, err } = await weft(['annotate', runId, '--flag', '--node', 'unknown']);

    expect(code).toBe(3);
    expect(err).toContain('target.nodeId');
  });
});

describe('weft runs annotations', () => {
  it('lists what was said, as a table or as lines of JSON', async () => {
    const table = await weft(['runs', 'annotations', runId]);
    const json = await weft(['runs', 'annotations', runId, '--json']);

    expect(table.out).toMatch(/SAID .*BY .*ABOUT .*SIGNAL .*NOTE/);
    expect(table.out).toMatch(/operator +hello +label: duplicate/);
    expect(json.out.trim().split('\n')).toHaveLength((await client.annotations.list(runId)).length);
  });
});
