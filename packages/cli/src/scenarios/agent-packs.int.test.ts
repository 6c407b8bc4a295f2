import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { createClient } from '@weft/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, type HostProcess, startHostProcess } from '../testing/host-process.ts';
import { type Outcome, weft } from '../testing/served.ts';

/** The example pack of agents, as a user of the command line has it: built, installed, served, used, and removed again. */
const EXAMPLE = new URL('../../../../examples/agent-pack/', import.meta.url).pathname;
const MODELS = new URL('../../../../examples/models.json', import.meta.url).pathname;
const AGENT = 'vendor.example.support.triage';
const KEY = 'a-key-of-the-tests-of-agent-packs';
const SCOPES = 'workflows:write,runs:create,runs:read,manifest:read';

let folder: string;
let served: HostProcess;
let otherKey: string;

function run(...argv: string[]): Promise<Outcome> {
  return weft(folder, argv, { WEFT_API_KEY: KEY });
}

const ask = (...argv: string[]) => run(...argv, '--url', served.url);
const client = (apiKey = KEY) => createClient({ baseUrl: served.url, apiKey });

async function documentOf(name: string): Promise<JsonObject> {
  return JSON.parse(await readFile(join(EXAMPLE, name), 'utf8')) as JsonObject;
}

async function serve(): Promise<void> {
  const flags = ['--packs', join(folder, 'packs'), '--config', MODELS];
  served = await startHostProcess({
    dataFolder: join(folder, 'data'),
    port: await freePort(),
    apiKey: KEY,
    flags,
  });
}

async function triage(message: JsonObject): Promise<string> {
  return (await client().runs.create({ workflowId: 'incoming', inputs: { message } })).runId;
}

/** The mock model is not sure of anything. */
async function waiting(message: JsonObject): Promise<string> {
  const runId = await triage(message);
  await expect
    .poll(async () => (await client().runs.get(runId)).status, { timeout: 10_000 })
    .toBe('waiting-approval');
  return runId;
}

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-agents-')));
  await mkdir(join(folder, 'packs'));
  await writeFile(join(folder, 'packs/trust.json'), '{"mode":"open"}');
  await cp(EXAMPLE, join(folder, 'support'), { recursive: true });
  await run('pack', 'build', 'support', '-o', 'support.tgz');
  await run('pack', 'install', 'support.tgz');
  await writeFile(
    join(folder, 'greet.ts'),
    `import { defineNode, Type } from '@weft/sdk/nodes';
export const greet = defineNode({ typeId: 'acme.greet', version: '1.0.0', inputs: {}, outputs: { hi: Type.String() }, run: () => ({ hi: 'hi' }) });
`,
  );
  await serve();
  const created = await ask('keys', 'create', 'ada', '--tenant', 'acme', '--scope', SCOPES, '--json');
  otherKey = (JSON.parse(created.out) as { key: string }).key;
});
afterAll(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a pack of agents', () => {
  it('is listed with its agents, and they are offered by the host that serves it', async () => {
    expect((await run('pack', 'ls')).out).toContain(AGENT);
    expect((await run('pack', 'check', 'support')).out).toContain(`can be built: ${AGENT}`);
    expect((await ask('agents', 'ls')).out).toContain(AGENT);
    expect((await ask('agents', 'show', AGENT)).out).toMatch(/tools\s+weft\.workflow:open-orders/);
    expect(JSON.parse((await ask('agents', 'show', AGENT, '--json')).out)).toEqual({
      agentId: AGENT,
      persona: 'Triage',
      label: 'Triage',
      description: 'Says what a message is about, and how urgent it is.',
      modelClass: 'classification',
      packName: 'vendor.example.support',
      packVersion: '1.0.0',
      toolAllowlist: ['weft.workflow:open-orders'],
      hasHandoffSchemas: true,
      confidenceThreshold: 0.8,
    });
    const { agents } = (await (await fetch(`${served.url}/.well-known/openwop`)).json()) as JsonObject;
    expect(agents).toMatchObject({
      manifestRuntime: { supported: true, handoffValidation: true, installScope: 'tenant' },
    });
    expect(await ask('agents', 'show', 'vendor.example.support.none')).toMatchObject({ code: 3 });
  });

  it('is used by a workflow, which asks a person where the agent is not sure', async () => {
    await client().workflows.register(await documentOf('workflows/open-orders.json'));
    await client().workflows.register(await documentOf('workflows/incoming.json'));

    expect(await client().runs.waitFor(await triage({ text: 'no subject' }))).toMatchObject({
      status: 'failed',
      error: { code: 'handoff_task_schema_violation' },
    });
    const runId = await waiting({ subject: 'Where is my order?' });
    const decision = { kind: 'order', urgency: 2, confidence: 1 };
    await ask('resolve', runId, 'triage', '--value', JSON.stringify({ decision }));

    expect(await client().runs.waitFor(runId)).toMatchObject({
      status: 'completed',
      outputs: { output: decision },
      agent: { agentId: AGENT, version: '1.0.0', sourceManifestId: AGENT },
    });
  });

  it('stays with its workflows when it is removed, and those of another tenant are for that one alone', async () => {
    await run('pack', 'rm', 'vendor.example.support');
    expect(await run('pack', 'install', 'support.tgz', '--tenant', '../evil')).toMatchObject({ code: 2 });
    expect(await run('pack', 'install', 'support.tgz', '--tenant', 'acme')).toMatchObject({ code: 0 });
    await run('pack', 'build', '.', '--name', 'vendor.acme.greet', '--version', '1.0.0', '-o', 'greet.tgz');
    // On machines without walls, code in JavaScript is run where its operator has chosen it.
    await writeFile(
      join(folder, 'packs/tenants/acme/trust.json'),
      '{"mode":"allowlist","allow":["vendor.acme.*","vendor.example.*"]}',
    );
    expect(await run('pack', 'install', 'greet.tgz', '--tenant', 'acme')).toMatchObject({ code: 0, err: '' });
    expect((await run('pack', 'ls', '--tenant', 'acme')).out).toMatch(/acme\.greet[^]*example\.support/);
    await served.stop();
    await serve();
    await expect.poll(served.output, { timeout: 30_000 }).toContain('acme.greet@1.0.0');

    expect((await ask('agents', 'ls')).err).toContain('No agents');
    expect((await client(otherKey).agents.list()).map(({ agentId }) => agentId)).toEqual([AGENT]);
    await expect(client().agents.get(AGENT)).rejects.toMatchObject({ status: 404 });
    await waiting({ subject: 'Hello' });
    const again = { ...(await documentOf('workflows/incoming.json')), version: '2.0.0' };
    await expect(client().workflows.register(again)).rejects.toMatchObject({ code: 'validation_error' });
    const greeting = { id: 'greeting', version: '1', nodes: [{ id: 'a', typeId: 'acme.greet' }] };
    await expect(client().workflows.register(greeting)).rejects.toMatchObject({ code: 'validation_error' });
    await client(otherKey).workflows.register(greeting);
    const { runId } = await client(otherKey).runs.create({ workflowId: 'greeting' });
    expect(await client(otherKey).runs.waitFor(runId)).toMatchObject({ status: 'completed' });
  });
});
