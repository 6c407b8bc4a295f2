import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Served, serveHere, weft } from '../../testing/served.ts';

const BIN = fileURLToPath(new URL('../../../bin/weft.mjs', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../../../../examples', import.meta.url));

let folder: string;
let host: Served | undefined;
let client: Client | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-mcp-serve-'));
});

afterEach(async () => {
  await client?.close();
  await host?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('weft mcp serve', () => {
  it('offers the workflows of a host to the official client over standard input and output', async () => {
    host = await serveHere(folder, [
      ...['--workflows', join(EXAMPLES, 'workflows')],
      ...['--config', join(EXAMPLES, 'models.json')],
    ]);
    client = new Client({ name: 'test', version: '1' }, { capabilities: {} });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [BIN, 'mcp', 'serve'], cwd: folder }),
    );

    const { tools } = await client.listTools();
    const asked = await client.callTool({ name: 'support-agent', arguments: { customer: 'Grace' } });
    const { runId } = asked.structuredContent as { runId: string };
    const answered = await client.callTool({
      name: 'weft_answer',
      arguments: { runId, answer: { action: 'accept' }, waitSeconds: 10 },
    });

    expect(tools.map(({ name }) => name)).toEqual(['support-agent', 'weft_run_status', 'weft_answer']);
    expect(asked.structuredContent).toMatchObject({
      status: 'waiting-approval',
      question: { data: { artifactData: expect.stringContaining('Dear Grace') as string } },
    });
    expect(answered.structuredContent).toMatchObject({ status: 'completed', outputs: { status: 'sent' } });
  });

  it('says what is missing where there is no key', async () => {
    const { code, err } = await weft(folder, ['mcp', 'serve', '--url', 'http://127.0.0.1:9']);

    expect([code, err]).toEqual([3, expect.stringContaining('WEFT_API_KEY')]);
  });
});
