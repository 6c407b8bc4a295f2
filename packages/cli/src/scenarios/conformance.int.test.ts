import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  MUTANTS,
  type MutantTrial,
  type Peers,
  findHost,
  startA2aPeer,
  startMcpServer,
  startOtlpCollector,
  startWebhookReceiver,
  tryMutant,
} from '@weft/conformance';
import { testServer } from '@weft/storage/postgres-test-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../testing/host-process.ts';
import { type Served, serveHere, weft } from '../testing/served.ts';

const API_KEY = `weft_test_${'c'.repeat(43)}`;
const BIN = new URL('../../bin/weft.mjs', import.meta.url).pathname;
const OTHER_SCOPES =
  'manifest:read,runs:create,runs:read,runs:cancel,runs:annotate,artifacts:read,webhooks:manage,approvals:respond';
const { server, newSchema } = testServer();

/** A host as an operator would set it up for the suite: test mode, its peers allowed, and two more keys. */
interface Prepared {
  readonly folder: string;
  readonly webhookPort: number;
  readonly otlpPort: number;
  readonly mcpPort: number;
  readonly a2aPort: number;
  readonly host: Served;
  readonly flags: readonly string[];
  stop(): Promise<void>;
}

/** Under each policy a provider; the models of none of them are ever reached. */
const POLICIES = { optional: 'free', disabled: 'off', required: 'own', restricted: 'narrow' };
const NOWHERE = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' };
const shownModes = (): string =>
  Object.entries(POLICIES)
    .map(([mode, provider]) => `${mode}=${provider}`)
    .join(',');

function configWith(mcpPort: number): object {
  return {
    models: {
      providers: {
        free: { kind: 'mock' },
        keyed: NOWHERE,
        off: { kind: 'mock', policy: { mode: 'disabled' } },
        own: { ...NOWHERE, policy: { mode: 'required' } },
        narrow: { kind: 'mock', policy: { mode: 'restricted' } },
      },
      default: 'free/echo',
    },
    mcpServers: { default: { url: `http://127.0.0.1:${mcpPort}/`, approve: 'never' } },
  };
}

async function prepare(newStore: () => readonly string[]): Promise<Prepared> {
  const folder = await mkdtemp(join(tmpdir(), 'weft-suite-'));
  const [webhooks, traces] = [await freePort(), await freePort()];
  const [tools, agents] = [await freePort(), await freePort()];
  await writeFile(join(folder, 'weft.json'), JSON.stringify(configWith(tools)));
  const setup = [
    '--conformance',
    '--config',
    'weft.json',
    '--grpc-port',
    '0',
    '--allow-egress',
    `127.0.0.1:${webhooks}`,
  ];
  const otlp = ['--otlp-endpoint', `http://127.0.0.1:${traces}`];
  const env = {
    WEFT_API_KEY: API_KEY,
    WEFT_AUDIT_RUNS: '1',
    OPENWOP_A2A_FAKE_PEER_URL: `http://127.0.0.1:${agents}`,
  };
  const host = await serveHere(folder, [...setup, ...otlp, ...newStore()], env);
  const newKey = async (file: string, ...flags: string[]): Promise<void> => {
    const made = await weft(folder, ['keys', 'create', file, '--url', host.url, '--json', ...flags], env);
    expect(made.code, made.err).toBe(0);
    const { key } = JSON.parse(made.out) as { key: string };
    await writeFile(join(folder, file), key, { mode: 0o600 });
  };
  await newKey('low-scope', '--scope', 'runs:read');
  await newKey('other-tenant', '--tenant', 'other', '--scope', OTHER_SCOPES);
  await newKey('other-workspace', '--workspace', 'other', '--scope', OTHER_SCOPES);
  // With a store of its own: these processes have another key than the host under test.
  const launch = `${process.execPath} ${BIN} serve --conformance --port {port} --data {data} ${newStore().join(' ')} --log-level error`;
  return {
    folder,
    webhookPort: webhooks,
    otlpPort: traces,
    mcpPort: tools,
    a2aPort: agents,
    host,
    flags: [
      ...['--url', host.url, '--launch', launch],
      ...['--webhook-port', String(webhooks), '--otlp-port', String(traces)],
      ...['--mcp-port', String(tools), '--a2a-port', String(agents)],
      ...['--policy-providers', shownModes()],
      ...['--low-scope-key-file', 'low-scope', '--other-tenant-key-file', 'other-tenant'],
      ...['--other-workspace-key-file', 'other-workspace'],
    ],
    async stop() {
      await host.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Gated by what a host has, or not applicable where it has it not: what our own has is proven, and not left out. */
const PROVEN = /^(PEER-([1-9]|10)|PACK-[1-6]|AGENT-23)$/;
const PROVEN_OF_REGISTRIES = /^(PACK-([89]|1[0135])|AGENT-21)$/;

describe.each([
  ['SQLite', (): string[] => ['--registry'], [PROVEN, PROVEN_OF_REGISTRIES]],
  ['PostgreSQL', (): string[] => ['--store', server().url, '--store-schema', newSchema()], [PROVEN]],
])('weft conformance against our own host on %s', (_, newStore, proven) => {
  let prepared: Prepared;
  beforeAll(async () => {
    prepared = await prepare(newStore);
  });
  afterAll(() => prepared?.stop());

  it('proves every requirement of every profile that the host claims', async () => {
    const { folder, flags } = prepared;

    const { code, out, err } = await weft(
      folder,
      ['conformance', ...flags, '--strict', '--report', 'suite.json'],
      { WEFT_API_KEY: API_KEY },
    );

    const { requirements } = JSON.parse(await readFile(join(folder, 'suite.json'), 'utf8')) as {
      requirements: { id: string; outcome: string; reason?: string }[];
    };
    expect(
      requirements.filter(({ outcome }) => outcome === 'failed'),
      err,
    ).toEqual([]);
    expect(
      requirements.filter(({ id, outcome }) => proven.some((ids) => ids.test(id)) && outcome !== 'proven'),
    ).toEqual([]);
    expect(code, out).toBe(0);
  }, 240_000);
});

describe('a host that is wrong in one way', () => {
  let prepared: Prepared;
  let trial: MutantTrial;
  let peers: Required<Peers>;
  beforeAll(async () => {
    prepared = await prepare(() => []);
    peers = {
      webhook: await startWebhookReceiver(prepared.webhookPort),
      otlp: await startOtlpCollector(prepared.otlpPort),
      mcp: await startMcpServer(prepared.mcpPort),
      a2a: await startA2aPeer(prepared.a2aPort),
    };
    const { url } = prepared.host;
    trial = {
      url,
      key: API_KEY,
      discovery: await findHost(url, API_KEY),
      keys: {
        lowScope: (await readFile(join(prepared.folder, 'low-scope'), 'utf8')).trim(),
        otherTenant: (await readFile(join(prepared.folder, 'other-tenant'), 'utf8')).trim(),
        otherWorkspace: (await readFile(join(prepared.folder, 'other-workspace'), 'utf8')).trim(),
      },
      peers,
      policies: POLICIES,
      launcher: undefined,
      concurrency: 2,
      requestTimeoutMs: 30_000,
    };
  });
  afterAll(async () => {
    await prepared?.stop();
    await peers?.webhook.stop();
    await peers?.otlp.stop();
    await peers?.mcp.stop();
    await peers?.a2a.stop();
  });

  it('is one of at least eighty', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(80);
  });

  it.concurrent.each(MUTANTS.map((mutant) => [mutant.id, mutant] as const))(
    '%s is caught by the check that is meant for it',
    async (_, mutant) => {
      const { isCaught, said } = await tryMutant(mutant, trial);

      expect(isCaught, said.join('\n')).toBe(true);
    },
  );
});
