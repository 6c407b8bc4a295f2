import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serveHere, weft } from '../../testing/served.ts';

/** The inspector's own command line, on a Node that it supports. */

const root = (path: string) => fileURLToPath(new URL(`../../../../../${path}`, import.meta.url));
const INSPECTOR = root(
  'tools/mcp-inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);
const NEWER_NODE = root('tools/nodes/node_modules/node-22/bin/node');
const NODE = existsSync(NEWER_NODE) ? NEWER_NODE : process.execPath;
const SCOPES = 'manifest:read,runs:create,runs:read,runs:cancel,prompts:read';

let folder: string;
let host: Served;
let key: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-inspector-'));
  host = await serveHere(folder, [
    ...['--workflows', root('examples/workflows')],
    ...['--config', root('examples/models.json')],
  ]);
  const created = await weft(folder, ['keys', 'create', 'inspector', '--scope', SCOPES]);
  key = created.out.trim();
});

afterAll(async () => {
  await host?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function inspect(target: readonly string[], method: readonly string[]): Promise<JsonObject> {
  const { stdout, stderr } = await promisify(execFile)(
    NODE,
    [INSPECTOR, '--cli', ...target, '--method', ...method],
    {
      cwd: folder,
      env: { ...process.env, HOME: folder },
    },
  );
  expect(stderr).not.toMatch(/[Ww]arning/);
  return JSON.parse(stdout) as JsonObject;
}

const TARGETS: Readonly<Record<string, () => string[]>> = {
  'streamable HTTP': () => [`${host.url}/v1/mcp`, '--header', `Authorization: Bearer ${key}`],
  'weft mcp serve': () => [
    ...['-e', `WEFT_API_KEY=${key}`],
    ...[process.execPath, root('packages/cli/bin/weft.mjs'), 'mcp', 'serve', '--url', host.url],
  ],
};

describe.each(Object.entries(TARGETS))('the inspector over %s', (_, targetOf) => {
  it('lists and calls tools, lists resources and prompts', async () => {
    const target = targetOf();

    const [tools, call, resources, prompts] = await Promise.all([
      inspect(target, ['tools/list', '--strict']),
      inspect(target, ['tools/call', '--tool-name', 'support-agent', '--tool-arg', 'customer=Grace']),
      inspect(target, ['resources/list']),
      inspect(target, ['prompts/list']),
    ]);

    expect(tools['tools']).toMatchObject([
      { name: 'support-agent' },
      { name: 'weft_run_status' },
      { name: 'weft_answer' },
    ]);
    expect(call).toMatchObject({ isError: false, structuredContent: { status: 'waiting-approval' } });
    expect(JSON.stringify(resources)).toContain('weft://workflows/support-agent');
    expect(prompts).toEqual({ prompts: [] });
  });
});
