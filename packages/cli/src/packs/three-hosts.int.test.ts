import { generateKeyPairSync } from 'node:crypto';
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findWalls } from '@weft/packs';
import { moduleText, wasmOf } from '@weft/packs/test-modules';
import { createClient } from '@weft/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, type HostProcess, startHostProcess } from '../testing/host-process.ts';
import { weft } from '../testing/served.ts';

/** A host that makes packs, a host that is a registry, and a host that runs what it has installed from there. */
const KEY = 'a-key-of-the-tests-of-three-hosts';
let folder: string;
let registry: HostProcess;
let runner: HostProcess | undefined;
const at = (name: string) => join(folder, name);

async function run(place: string, argv: readonly string[], env: Record<string, string> = {}) {
  const outcome = await weft(at(place), [...argv, '--json'], env);
  const lines = (outcome.out.trim() || outcome.err.trim()).split('\n');
  return { ...outcome, json: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

async function serve(place: string, flags: readonly string[]): Promise<HostProcess> {
  return startHostProcess({ dataFolder: at(`${place}/data`), port: await freePort(), apiKey: KEY, flags });
}

const GREET = `import { defineNode, Type } from '@weft/sdk/nodes';
export const greet = defineNode({
  typeId: 'acme.greet', version: '1.0.0', category: 'data', role: 'side-effect',
  inputs: { name: Type.String(), url: Type.String() },
  outputs: { greeting: Type.String(), random: Type.Number(), refused: Type.String() },
  async run({ inputs, log }) {
    log('info', 'greeting ' + inputs.name);
    const refused = await fetch(inputs.url).then(() => 'reached', (error) => error.message);
    return { greeting: 'Hello, ' + inputs.name + '!', random: Math.random(), refused };
  },
});
`;

const GREETING = {
  id: 'greeting',
  name: 'greeting',
  version: '1.0.0',
  nodes: [
    {
      id: 'greet',
      typeId: 'acme.greet',
      name: 'greet',
      position: { x: 0, y: 0 },
      config: {},
      inputs: {
        name: { type: 'static', value: 'Ada' },
        url: { type: 'static', value: 'http://169.254.169.254/' },
      },
    },
    {
      id: 'hello',
      typeId: 'acme.hello.greet',
      name: 'hello',
      position: { x: 0, y: 0 },
      config: {},
      inputs: {},
    },
  ],
  edges: [{ id: 'e', sourceNodeId: 'greet', targetNodeId: 'hello' }],
  triggers: [],
  variables: [],
  metadata: { tags: [] },
  settings: { timeout: 60_000 },
} as const;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-three-')));
  for (const place of ['maker/js/nodes', 'maker/wasm/dist', 'registry', 'runner/packs', 'runner/other'])
    await mkdir(at(place), { recursive: true });
  registry = await serve('registry', ['--registry']);
});
afterAll(async () => {
  await runner?.stop();
  await registry.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a pack that was made on one host', () => {
  it('is published to a second, installed by a third, runs there and replays equal', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    await writeFile(at('maker/acme.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), {
      mode: 0o600,
    });
    await writeFile(at('maker/js/nodes/greet.ts'), GREET);
    await writeFile(
      at('maker/wasm/pack.json'),
      JSON.stringify({
        name: 'vendor.acme.hello',
        version: '1.0.0',
        nodes: [{ typeId: 'acme.hello.greet', version: '1.0.0', category: 'data', role: 'pure' }],
        runtime: { language: 'wasm', entry: 'dist/hello.wasm', format: 'wasm' },
        dependencies: { 'vendor.acme.greeter': '^1.0.0' },
      }),
    );
    await writeFile(at('maker/wasm/dist/hello.wasm'), await wasmOf(moduleText()));

    await run('maker', [
      'pack',
      'build',
      'js',
      '--name',
      'vendor.acme.greeter',
      '--version',
      '1.2.0',
      '-o',
      'js.tgz',
    ]);
    await run('maker', ['pack', 'build', 'wasm', '-o', 'wasm.tgz']);
    let publicKey = '';
    for (const file of ['js.tgz', 'wasm.tgz']) {
      const [signed] = (await run('maker', ['pack', 'sign', file, '--key', 'acme.pem', '--kid', 'acme-1']))
        .json;
      publicKey = String(signed?.['publicKey']);
      const published = await run('maker', ['pack', 'publish', file, '--url', registry.url], {
        WEFT_API_KEY: KEY,
      });
      expect(published).toMatchObject({ code: 0, json: [{ isNew: true, signed: true }] });
    }
    const key = { kid: 'acme-1', algorithm: 'ed25519', publicKey, validFrom: '2020-01-01T00:00:00Z' };
    const { isWalled } = await findWalls();
    const keychains = [{ namespace: 'vendor.acme', keys: [key] }];
    const trust = isWalled ? { keychains } : { mode: 'allowlist', allow: ['vendor.acme.*'] };
    await writeFile(at('runner/packs/trust.json'), JSON.stringify(trust));
    await cp(at('runner/packs/trust.json'), at('runner/other/trust.json'));
    const { host } = new URL(registry.url);
    const config = {
      registries: [{ url: registry.url, namespaces: ['vendor.acme'] }],
      'allow-egress': [host],
    };
    await writeFile(at('runner/weft.json'), JSON.stringify(config));
    const install = ['pack', 'install', 'vendor.acme.hello@^1.0.0'];

    const denied = await run('runner', [...install, '--packs', 'other', '--registry', registry.url]);
    const unknown = await run('runner', ['pack', 'install', 'vendor.acme.none', '--config', 'weft.json']);
    const tooNew = await run('runner', ['pack', 'install', 'vendor.acme.hello@^2', '--config', 'weft.json']);
    const installed = await run('runner', [...install, '--config', 'weft.json']);

    expect(denied).toMatchObject({ code: 3, json: [{ error: 'pack_fetch_failed' }] });
    expect(unknown).toMatchObject({ code: 3, json: [{ error: 'pack_not_found' }] });
    expect(tooNew).toMatchObject({ code: 3, json: [{ error: 'pack_version_not_found' }] });
    expect(installed).toMatchObject({
      code: 0,
      json: [{ name: 'vendor.acme.greeter', version: '1.2.0' }, { name: 'vendor.acme.hello' }],
    });

    runner = await serve('runner', ['--packs', at('runner/packs')]);
    const { url, output } = runner;
    await expect.poll(output, { timeout: 30_000 }).toContain('acme.hello.greet@1.0.0');
    const client = createClient({ baseUrl: url, apiKey: KEY });
    await client.workflows.register(GREETING);
    const { runId } = await client.runs.create({ workflowId: 'greeting' });
    const ended = await client.runs.waitFor(runId);
    const { runId: again } = await client.runs.fork(runId, { mode: 'replay', fromSeq: 0 });
    const replayed = await client.runs.waitFor(again);
    const outputs = async (id: string) =>
      (await client.runs.poll(id)).events
        .filter(({ type }) => type === 'node.completed')
        .map(({ payload }) => payload);

    expect([ended.status, replayed.status]).toEqual(['completed', 'completed']);
    const first = await outputs(runId);
    expect(first[0]).toMatchObject({
      outputs: { greeting: 'Hello, Ada!', refused: expect.stringContaining('fetch failed') },
    });
    expect(await outputs(again)).toEqual(first);
  });
});
