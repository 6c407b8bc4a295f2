import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startTestServer, type TestServer } from '@weft/storage/postgres-test-server';
import { type NodeProcess, startNode } from '../chaos/faults/node-process.ts';
import { freePort } from '../hosts/server-process.ts';
import { createAttacker } from './attacker.ts';
import type { HostileCase } from './corpus.ts';
import { startNeighbourThread } from './neighbour-thread.ts';
import { startHostileService } from './hostile-service.ts';
import { installAll, NEIGHBOUR_TYPES } from './installed-packs.ts';

/** What another tenant felt of a case. */
export interface CaseResult {
  readonly kind: string;
  readonly name: string;
  /** What the host made of the attack. */
  readonly outcome: string;
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Times that the host's process ended. */
  readonly deaths: number;
  /** What the outcome lacks of what it must have. */
  readonly lacks?: string;
}

export interface HostileResult {
  readonly store: 'sqlite' | 'postgres';
  /** Without an attack. */
  readonly quiet: CaseResult;
  readonly cases: readonly CaseResult[];
  readonly acknowledged: number;
  /** Acknowledged runs of the other tenant that did not complete, and its failed requests. */
  readonly lost: readonly string[];
}

export interface HostileOptions {
  readonly store: 'sqlite' | 'postgres';
  readonly corpus: readonly HostileCase[];
  readonly note: (line: string) => void;
}

const CLIENTS = 6;
const QUIET_MS = 5_000;
const SETTLE_MS = 300;
/** A p99 needs some requests. */
const SHORTEST_MS = 1_000;
const CASE_MS = 60_000;
const ORDINARY = [
  'runs:create',
  'runs:read',
  'runs:cancel',
  'workflows:write',
  'manifest:read',
  'approvals:respond',
  'workers:serve',
  'schedules:manage',
  'packs:publish',
];

export async function runHostile({ store, corpus, note }: HostileOptions): Promise<HostileResult> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-hostile-'));
  const service = await startHostileService();
  const database = store === 'postgres' ? await startTestServer() : undefined;
  const hasPacks = corpus.some(({ kind }) => kind === 'pack');
  const packs = hasPacks ? ['--packs', await installAll(folder)] : [];
  const host = await startHost(folder, ['--allow-egress', new URL(service.url).host, ...packs], database);
  try {
    const neighbour = await startNeighbourThread({
      port: host.port,
      key: await host.keyOf('neighbour'),
      clients: CLIENTS,
      serviceUrl: service.url,
      packTypes: hasPacks ? NEIGHBOUR_TYPES : [],
    });
    const attackerKey = await host.keyOf('hostile');

    const measure = async (kind: string, name: string, act: () => Promise<string>): Promise<CaseResult> => {
      await neighbour.take();
      const deaths = host.deaths();
      const [outcome] = await Promise.all([within(CASE_MS, act()), pause(SHORTEST_MS)]);
      await pause(SETTLE_MS);
      return { kind, name, outcome, ...summaryOf(await neighbour.take()), deaths: host.deaths() - deaths };
    };

    const quiet = await measure('', 'no attack', async () => {
      await pause(QUIET_MS);
      return '';
    });
    const results: CaseResult[] = [];
    for (const [index, each] of corpus.entries()) {
      const prefix = `hostile-${index}`;
      const attacker = createAttacker({ port: host.port, key: attackerKey, serviceUrl: service.url, prefix });
      const result = await measure(each.kind, each.name, () => each.attack(attacker));
      await attacker.disconnect();
      const { ends } = each;
      results.push({
        ...result,
        ...(ends !== undefined && !result.outcome.includes(ends) && { lacks: ends }),
      });
      note(
        `${each.kind}: ${each.name}: ${result.outcome} (p99 ${result.p99.toFixed(0)} ms, max ${result.max.toFixed(0)} ms)`,
      );
    }
    const { acknowledged, lost } = await neighbour.stop();
    return { store, quiet, cases: results, acknowledged, lost };
  } finally {
    await host.stop();
    await database?.remove();
    service.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface AttackedHost {
  readonly port: number;
  deaths(): number;
  keyOf(tenant: string): Promise<string>;
  stop(): Promise<void>;
}

/** Started again whenever it ends, as a supervisor would do. */
async function startHost(
  folder: string,
  flags: readonly string[],
  database: TestServer | undefined,
): Promise<AttackedHost> {
  const port = await freePort();
  const adminKey = `weft_live_${randomBytes(32).toString('base64url')}`;
  const { privateKey } = generateKeyPairSync('ed25519');
  const secretsKey = randomBytes(32).toString('base64url');
  let deaths = 0;
  let isOver = false;
  let node: NodeProcess | undefined;

  async function start(): Promise<void> {
    node = await startNode({
      port,
      flags: ['--data', join(folder, 'data'), '--log-format', 'json', '--registry', ...flags],
      env: {
        WEFT_API_KEY: adminKey,
        WEFT_SECRETS_KEY: secretsKey,
        WEFT_AUDIT_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        ...(database !== undefined && { WEFT_STORE: database.url }),
      },
      logFile: join(folder, 'host.log'),
      onUnexpectedExit() {
        deaths += 1;
        if (!isOver) start().catch(() => undefined);
      },
    });
  }

  await start();
  return {
    port,
    deaths: () => deaths,
    async keyOf(tenant) {
      const response = await fetch(`http://127.0.0.1:${port}/v1/host/weft/keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ tenant, principal: 'operator', kind: 'service', scopes: ORDINARY }),
      });
      const { key } = (await response.json()) as { key?: string };
      if (key === undefined) throw new Error(`no key for ${tenant}: ${response.status}`);
      return key;
    },
    async stop() {
      isOver = true;
      await node?.stop();
    },
  };
}

async function within(ms: number, work: Promise<string>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('not over in time'), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function summaryOf(latencies: number[]): Pick<CaseResult, 'requests' | 'p50' | 'p99' | 'max'> {
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0;
  return { requests: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}
