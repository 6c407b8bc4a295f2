import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort, type HostProcess, startHostProcess } from '../../testing/host-process.ts';
import { type Served, serveHere, weft } from '../../testing/served.ts';

const SERVERS = new URL(
  '../../../../../tools/mcp-servers/node_modules/@modelcontextprotocol/',
  import.meta.url,
).pathname;
const KEY = 'weft_live_0123456789abcdef0123456789abcdef0123456789abcdef';

let cwd: string;
let served: Served | undefined;

beforeAll(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), 'weft-mcp-')));
});

afterEach(async () => {
  await served?.stop();
  served = undefined;
});

afterAll(async () => {
  await rm(cwd, { recursive: true, force: true });
});

const filesystem = (): JsonObject => ({
  command: process.execPath,
  args: [join(SERVERS, 'server-filesystem/dist/index.js'), cwd],
});

async function configure(mcpServers: unknown): Promise<string[]> {
  await writeFile(join(cwd, 'weft.json'), JSON.stringify({ mcpServers }));
  return ['--config', 'weft.json'];
}

const writeFlow = (path: string): JsonObject => ({
  id: 'write',
  name: 'Write',
  version: '1.0.0',
  nodes: [
    {
      id: 'write',
      typeId: 'core.mcp.toolCall',
      name: 'write',
      position: { x: 0, y: 0 },
      config: { serverId: 'files', toolName: 'write_file', arguments: { path, content: 'agreed' } },
      inputs: {},
    },
  ],
  edges: [],
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables: [],
  metadata: { tags: [] },
  settings: { timeout: 600_000 },
});

describe('weft mcp', () => {
  it('lists, tests and calls the tools of a configured server', async () => {
    await writeFile(join(cwd, 'note.txt'), 'hello from a file');
    served = await serveHere(cwd, await configure({ files: filesystem() }));

    const before = await weft(cwd, ['mcp', 'ls']);
    const tested = await weft(cwd, ['mcp', 'test', 'files']);
    const called = await weft(cwd, [
      'mcp',
      'call',
      'files',
      'read_text_file',
      '--input',
      `path=${join(cwd, 'note.txt')}`,
    ]);
    const wrong = await weft(cwd, ['mcp', 'call', 'files', 'read_text_file', '--input', 'path=7']);
    const refused = await weft(cwd, [
      'mcp',
      'call',
      'files',
      'read_text_file',
      '--input',
      'path=/etc/hostname',
      '--json',
    ]);
    const after = await weft(cwd, ['mcp', 'ls', 'files', '--json']);
    const unknown = await weft(cwd, ['mcp', 'test', 'nothing']);

    expect(before.out).toMatch(/files\s+stdio\s+idle/);
    expect(tested.code).toBe(0);
    expect(tested.out).toMatch(/write_file\s+destructive, idempotent\s+needed/);
    expect(called).toMatchObject({ code: 0, out: 'hello from a file\n' });
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain('validation_error: arguments.path of "read_text_file"');
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.out)).toMatchObject({ result: { isError: true } });
    expect(JSON.parse(after.out)).toMatchObject({ name: 'files', state: 'ready' });
    expect(unknown.code).toBe(3);
    const audit = await weft(cwd, ['audit', 'export', '-o', '-']);
    expect(audit.out).toContain('files/read_text_file');
  });

  it('says how to begin where there are no servers', async () => {
    served = await serveHere(cwd, []);

    const listed = await weft(cwd, ['mcp', 'ls']);

    expect(listed).toMatchObject({ code: 0, out: '' });
    expect(listed.err).toContain('"mcpServers"');
  });
});

describe('a host with bad servers in its config file', () => {
  it.each<[JsonObject, string]>([
    [{ files: { command: 'x', argz: [] } }, 'mcpServers.files'],
    [{ files: { url: 'ftp://x' } }, 'mcpServers.files.url must be an http or https URL.'],
    [
      { files: { command: 'x', env: { KEY: 'secret:missing' } } },
      'mcpServers.files.env.KEY names the secret "missing", which is not set.',
    ],
  ])('does not start, and names the field: %j', async (mcpServers, message) => {
    const { code, err } = await weft(cwd, ['serve', '--port', '0', ...(await configure(mcpServers))]);

    expect(code).toBe(3);
    expect(err).toContain(message);
  });
});

describe('a call that may destroy something', () => {
  let host: HostProcess | undefined;

  afterEach(async () => {
    await host?.stop();
    host = undefined;
  });

  it('waits in the inbox with its arguments through kill -9, and is made once a person agrees', async () => {
    const path = join(cwd, 'agreed.txt');
    const port = await freePort();
    const flags = await configure({ files: filesystem() });
    const dataFolder = join(cwd, 'killed');
    const start = () =>
      startHostProcess({ dataFolder, port, apiKey: KEY, flags: ['--config', join(cwd, flags[1] ?? '')] });
    const ask = (...argv: string[]) =>
      weft(cwd, [...argv, '--url', `http://127.0.0.1:${port}`], { WEFT_API_KEY: KEY });
    await writeFile(join(cwd, 'write.json'), JSON.stringify(writeFlow(path)));
    host = await start();
    await ask('workflows', 'register', 'write.json');
    const begun = await ask('run', 'write', '--json');
    const { runId } = JSON.parse(begun.out) as { runId: string };
    const inbox = () => ask('inbox', '--json');
    await expect.poll(async () => (await inbox()).out, { timeout: 20_000 }).toContain(runId);
    await host.kill();

    host = await start();
    const question = (await inbox()).out;
    const approved = await ask('approve', runId);

    expect(question).toContain(JSON.stringify({ path, content: 'agreed' }).slice(1, -1));
    expect(approved).toMatchObject({ code: 0 });
    await expect
      .poll(async () => (await ask('runs', 'show', runId, '--json')).out, { timeout: 20_000 })
      .toContain('"completed"');
    expect(await readFile(path, 'utf8')).toBe('agreed');
  });
});
