import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { McpTools } from './index.ts';
import { httpServer, openTools, publishedServer } from './testing/servers.ts';
import { toolContext } from './testing/tool-context.ts';

let folder: string;
let tools: McpTools | undefined;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-mcp-')));
});

afterEach(async () => {
  await tools?.stop();
  tools = undefined;
  await rm(folder, { recursive: true });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('the published filesystem server', () => {
  it('is started at its first use, reads and writes files, and ends with the host', async () => {
    await writeFile(join(folder, 'note.txt'), 'hello');
    ({ tools } = openTools({ files: publishedServer('filesystem', folder) }));
    expect(tools.status('files')).toEqual({ transport: 'stdio', state: 'idle' });

    const listed = await tools.list('files', toolContext());
    const read = await tools.call(
      { server: 'files', tool: 'read_text_file', arguments: { path: join(folder, 'note.txt') } },
      toolContext(),
    );
    const written = await tools.call(
      {
        server: 'files',
        tool: 'write_file',
        arguments: { path: join(folder, 'new.txt'), content: 'written' },
      },
      toolContext(),
    );

    expect(listed.find(({ name }) => name === 'read_text_file')).toMatchObject({ isReadOnly: true });
    expect(listed.find(({ name }) => name === 'write_file')).toMatchObject({ isDestructive: true });
    expect(listed.every(({ digest }) => /^[0-9a-f]{64}$/.test(digest))).toBe(true);
    expect(read).toMatchObject({ isError: false, content: [{ type: 'text', text: 'hello' }] });
    expect(written.isError).toBe(false);
    expect(await readFile(join(folder, 'new.txt'), 'utf8')).toBe('written');
    const { pid = 0 } = tools.status('files');
    await tools.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(tools.status('files').state).toBe('stopped');
  });

  it('answers what it refuses as a result that is an error', async () => {
    ({ tools } = openTools({ files: publishedServer('filesystem', folder) }));

    const result = await tools.call(
      { server: 'files', tool: 'read_text_file', arguments: { path: '/etc/hostname' } },
      toolContext(),
    );

    expect(result.isError).toBe(true);
  });

  it('is offered by the names that the configuration admits, and asked for approval by those it names', async () => {
    const entry = {
      ...publishedServer('filesystem', folder),
      tools: ['read_*', 'write_file'],
      approve: ['read_text*'],
    };
    ({ tools } = openTools({ files: entry }));

    const listed = await tools.list('files', toolContext());

    expect(listed.map(({ name }) => name).sort()).toEqual([
      'read_file',
      'read_media_file',
      'read_multiple_files',
      'read_text_file',
      'write_file',
    ]);
    expect(listed.filter(({ needsApproval }) => needsApproval === true).map(({ name }) => name)).toEqual([
      'read_text_file',
    ]);
    await expect(
      tools.call({ server: 'files', tool: 'list_directory', arguments: { path: folder } }, toolContext()),
    ).rejects.toMatchObject({ code: 'tool_unknown', retryable: false });
  });

  it('is not asked with arguments that do not fit the schema of the tool', async () => {
    ({ tools } = openTools({ files: publishedServer('filesystem', folder) }));

    const call = tools.call(
      { server: 'files', tool: 'read_text_file', arguments: { path: 7 } },
      toolContext(),
    );

    await expect(call).rejects.toMatchObject({
      code: 'validation_error',
      details: { field: 'arguments.path' },
    });
  });
});

describe('the published memory server', () => {
  it('keeps its entries in the file that its environment names', async () => {
    const file = join(folder, 'memory.jsonl');
    ({ tools } = openTools({ memory: { ...publishedServer('memory'), env: { MEMORY_FILE_PATH: file } } }));
    const entities = [{ name: 'weft', entityType: 'host', observations: ['durable'] }];

    await tools.call({ server: 'memory', tool: 'create_entities', arguments: { entities } }, toolContext());
    const graph = await tools.call({ server: 'memory', tool: 'read_graph', arguments: {} }, toolContext());

    expect(graph.structuredContent).toMatchObject({ entities });
    expect(await readFile(file, 'utf8')).toContain('durable');
  });
});

describe('the published server with everything', () => {
  it('answers over stdio', async () => {
    ({ tools } = openTools({ everything: publishedServer('everything') }));

    const result = await tools.call(
      { server: 'everything', tool: 'echo', arguments: { message: 'hi' } },
      toolContext(),
    );

    expect(result).toMatchObject({ isError: false, content: [{ type: 'text', text: 'Echo: hi' }] });
  });

  it('answers over streamable HTTP on loopback, which the egress policy admits for it alone', async () => {
    const server = await httpServer(await freePort());
    try {
      const { tools: opened } = openTools({ everything: { url: server.url } });
      tools = opened;

      const listed = await tools.list('everything', toolContext());
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          opened.call(
            { server: 'everything', tool: 'echo', arguments: { message: `no. ${n}` } },
            toolContext(),
          ),
        ),
      );

      expect(listed.map(({ name }) => name)).toContain('echo');
      expect(results.map((result) => result.content)).toEqual(
        Array.from({ length: 20 }, (_, n) => [{ type: 'text', text: `Echo: no. ${n}` }]),
      );
      expect(tools.status('everything')).toMatchObject({ transport: 'http', state: 'ready' });
    } finally {
      await server.stop();
    }
  });

  it('is found again over HTTP after it was restarted and has forgotten the session', async () => {
    const port = await freePort();
    let server = await httpServer(port);
    try {
      ({ tools } = openTools({ everything: { url: server.url } }));
      await tools.list('everything', toolContext());
      await server.stop();
      server = await httpServer(port);

      const result = await tools.call(
        { server: 'everything', tool: 'echo', arguments: { message: 'again' } },
        toolContext(),
      );

      expect(result).toMatchObject({ content: [{ text: 'Echo: again' }] });
    } finally {
      await server.stop();
    }
  });
});
