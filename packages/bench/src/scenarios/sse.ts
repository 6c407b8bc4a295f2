import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ensureFirstKey } from '@weft/engine';
import { KEY, weft } from '../hosts/contenders.ts';
import { startDriver } from '../load/driver.ts';
import { withStore } from '../fill/seed.ts';
import type { Target } from '../load/http-connection.ts';
import type { SubscribeResult } from '../measuring/jobs.ts';
import { percentile } from '../measuring/measure.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import { freePort, startServer, type ServerProcess } from '../hosts/server-process.ts';
import { type About, createTally, type Tally } from '../measuring/tally.ts';
import { workloadOf } from '../load/workloads.ts';
import { beginOnHost, playOnFanOut, playOnHost } from './subscribed-run.ts';

interface Crowd {
  readonly subscribers: number;
  readonly rounds: number;
  /** Steps as fast as they go, for the rate; two events each. */
  readonly fastSteps: number;
  /** Steps with room between them, for the latency. */
  readonly pacedSteps: number;
  readonly paceMs: number;
}

/** A tenant may have a thousand streams, so more come from several tenants. */
const PER_TENANT = 1_000;
const FAN_OUT = 'bare node:http fan-out';

export const sse: Scenario = {
  name: 'sse',
  title: 'Live streams to 1,000 and 5,000 subscribers',
  rawLimit: 'a bare node:http fan-out of the same frames to the same clients',
  goals: ['G8', 'G10'],
  async measure(lab) {
    const tally = createTally();
    const crowds = crowdsOf(lab);
    const most = Math.max(...crowds.map(({ subscribers }) => subscribers));
    const keys = tenantKeys(Math.ceil(most / PER_TENANT));
    const server = await startHost(lab, keys);
    const bare = await startBare(lab);
    for (const crowd of crowds) {
      for (let round = 0; round < crowd.rounds; round += 1) {
        await measureCrowd(lab, tally, crowd, { server, bare, keys });
        lab.note(`${crowd.subscribers} subscribers, round ${round + 1}: done`);
      }
    }
    await measureOtherRuns(lab, tally, server);
    return { figures: tally.figures() };
  },
};

function crowdsOf(lab: Lab): readonly Crowd[] {
  return sized(
    lab,
    [
      { subscribers: 1_000, rounds: lab.rounds, fastSteps: 60, pacedSteps: 30, paceMs: 100 },
      { subscribers: 5_000, rounds: 1, fastSteps: 30, pacedSteps: 16, paceMs: 500 },
    ],
    [
      { subscribers: 100, rounds: 1, fastSteps: 20, pacedSteps: 10, paceMs: 50 },
      { subscribers: 1_500, rounds: 1, fastSteps: 5, pacedSteps: 4, paceMs: 300 },
    ],
  );
}

/** The first tenant is the default one, whose key the host makes by itself. */
function tenantKeys(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? KEY : KEY.replace(/0$/, String(index))));
}

async function startHost(lab: Lab, keys: readonly string[]): Promise<ServerProcess> {
  const folder = lab.newFolder('sse');
  await withStore(folder, async (store) => {
    for (const [index, key] of keys.slice(1).entries()) {
      const tenant = `tenant-${index + 2}`;
      await ensureFirstKey({ store, key, tenant, test: false, now: Date.now(), random: randomBytes });
    }
  });
  const server = await weft.start({ folder }, lab.echo);
  lab.cleanUp(() => server.stop());
  return server;
}

async function startBare(lab: Lab): Promise<ServerProcess> {
  const port = await freePort();
  const program = join(import.meta.dirname, '../raw/bare-server.js');
  const server = await startServer({ port, arguments: [program, String(port), 'sse'], readyPath: '/ready' });
  lab.cleanUp(() => server.stop());
  return server;
}

interface Sides {
  readonly server: ServerProcess;
  readonly bare: ServerProcess;
  readonly keys: readonly string[];
}

async function measureCrowd(
  lab: Lab,
  tally: Tally,
  crowd: Crowd,
  { server, bare, keys }: Sides,
): Promise<void> {
  const { subscribers, fastSteps, pacedSteps, paceMs } = crowd;
  const count = Math.ceil(subscribers / PER_TENANT);
  const targetsAt = (port: number): Target[] => keys.slice(0, count).map((key) => ({ port, key }));
  const name = `${subscribers.toLocaleString('en-US')} subscribers`;
  const put = (measure: string, about: Omit<About, 'title'>, host: number, raw?: number) => {
    const key = `sse/${subscribers}/${measure}`;
    tally.add(key, { title: `${name}, ${measure}`, ...about }, host);
    tally.against(key, FAN_OUT, raw);
  };

  const fast = { subscribers, steps: fastSteps, stepUrl: lab.echo.url };
  const rawFast = await playOnFanOut(lab.driver, { ...fast, targets: targetsAt(bare.port) });
  const hostFast = await playOnHost(lab.driver, lab.echo, { ...fast, targets: targetsAt(server.port) });
  put('rate', { unit: 'messages/s', better: 'more' }, rateOf(hostFast), rateOf(rawFast));

  const paced = { subscribers, steps: pacedSteps, stepUrl: lab.echo.slowUrl(paceMs) };
  const rawPaced = await playOnFanOut(lab.driver, { ...paced, targets: targetsAt(bare.port) });
  const hostPaced = await playOnHost(lab.driver, lab.echo, { ...paced, targets: targetsAt(server.port) });
  put('commit to receipt, p50', { unit: 'ms', better: 'less' }, hostPaced.p50Ms, rawPaced.p50Ms);
  put('commit to receipt, p99', { unit: 'ms', better: 'less' }, hostPaced.p99Ms, rawPaced.p99Ms);
  const wrong = [hostFast, hostPaced].map(({ lost, repeated, unfinished }) => lost + repeated + unfinished);
  put('lost or repeated', { unit: 'events', better: 'less' }, wrong[0] ?? 0);
  put('lost or repeated', { unit: 'events', better: 'less' }, wrong[1] ?? 0);
}

function rateOf({ received, elapsedMs }: SubscribeResult): number {
  return (received / elapsedMs) * 1000;
}

/** The latency of other runs at half of the maximum load, without and with a thousand live streams next to them. */
async function measureOtherRuns(lab: Lab, tally: Tally, server: ServerProcess): Promise<void> {
  const subscribers = sized(lab, 1_000, 100);
  const target = { port: server.port, key: KEY };
  const { workflowId } = workloadOf('A');
  const ms = sized(lab, 4_000, 1_000);
  const base = { kind: 'runs', target, workflowId, clients: 64 } as const;
  await lab.driver.load({ ...base, ms });
  const top = await lab.driver.load({ ...base, ms });
  const perSecond = top.done / (top.elapsedMs / 1000) / 2;
  const p50 = async () => percentile((await lab.driver.load({ ...base, ms, perSecond })).latencies, 0.5);

  const second = startDriver();
  lab.cleanUp(() => second.close());
  for (let round = 0; round < lab.rounds; round += 1) {
    const without = await p50();
    const steps = Math.ceil(ms / 500) + 4;
    const running = await beginOnHost(second, lab.echo, {
      targets: [target],
      subscribers,
      steps,
      stepUrl: lab.echo.slowUrl(500),
    });
    const withStreams = await p50();
    await running.over;
    const about: About = {
      title: `A at half load next to ${subscribers.toLocaleString('en-US')} live streams (4 events/s each), p50`,
      unit: 'ms',
      better: 'less',
    };
    tally.add('sse/other runs', about, withStreams);
    tally.against('sse/other runs', 'without them', without);
  }
}
