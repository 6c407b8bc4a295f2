import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '@weft/engine';
import { openPostgresStore, openSqliteStore } from '@weft/storage';
import { DUE, fillSchedules } from '../fill/fill-schedules.ts';
import { KEY, type Place, weft } from '../hosts/contenders.ts';
import { call, expectCall } from '../load/calls.ts';
import type { Target } from '../load/http-connection.ts';
import { workloadOf } from '../load/workloads.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import { type About, createTally, type Tally } from '../measuring/tally.ts';

/** What schedules cost that are not due: per look for due ones, per idle second, and for one that is due next to them. */
export const schedules: Scenario = {
  name: 'schedules',
  title: 'No schedule and 1,000,000 dormant ones',
  rawLimit: 'the same host without them, in turn',
  goals: [],
  async measure(lab) {
    const tally = createTally();
    await compare(lab, tally, 'SQLite', () => ({ folder: lab.newFolder('schedules') }));
    const { url, newSchema } = await lab.postgres();
    await compare(lab, tally, 'PostgreSQL', () => ({
      ...{ folder: lab.newFolder('schedules'), postgres: { url, schema: newSchema() } },
    }));
    return { figures: tally.figures() };
  },
};

const SCHEDULES = '/v1/host/weft/schedules';
const PATTERN = { tenant: 'default', name: 'pattern' };
const LOOKS = 500;
const CLAIMED = 64;
const LEASE_MS = 10_000;
const SETTLE_MS = 8_000;

interface Measured {
  readonly lookUs: number;
  readonly idleCpuMs: number;
  readonly statements: number | undefined;
  readonly latenessMs: number;
}

const FIGURES: Readonly<Record<keyof Measured, Omit<About, 'better'>>> = {
  lookUs: { title: 'one look for what is due', unit: 'µs' },
  idleCpuMs: { title: 'CPU of host and database in an idle second', unit: 'ms' },
  statements: { title: 'transactions of the database in an idle second', unit: '' },
  latenessMs: { title: 'from a due time to the creation of its run, median', unit: 'ms' },
};

async function compare(lab: Lab, tally: Tally, store: string, newPlace: () => Place): Promise<void> {
  const count = sized(lab, 1_000_000, 20_000);
  const [empty, full] = [await prepared(lab, newPlace(), 0), await prepared(lab, newPlace(), count)];
  for (let round = 0; round < lab.rounds; round += 1) {
    const inTurn = round % 2 === 0 ? [empty, full] : [full, empty];
    const measured = new Map<Place, Measured>();
    for (const place of inTurn) measured.set(place, await measure(lab, place));
    for (const [name, about] of Object.entries(FIGURES) as [keyof Measured, About][]) {
      const key = `schedules/${store}/${name}`;
      const title = `${store}, ${count.toLocaleString('en-US')} dormant: ${about.title}`;
      tally.add(key, { ...about, title, better: 'less' }, measured.get(full)?.[name]);
      tally.against(key, 'without them', measured.get(empty)?.[name]);
    }
    lab.note(`${store}: round ${round + 1} done`);
  }
}

/** A host makes one schedule, which is left out again, and the others like it. */
async function prepared(lab: Lab, place: Place, count: number): Promise<Place> {
  const started = performance.now();
  const server = await weft.start(place, lab.echo);
  try {
    const target = { port: server.port, key: KEY };
    const body = { name: PATTERN.name, workflowId: workloadOf('A').workflowId, cron: '0 0 1 1 *' };
    await expectCall(target, { method: 'POST', path: SCHEDULES, body: JSON.stringify(body) }, 201);
  } finally {
    await server.stop();
  }
  await withStore(place, (store) => fillSchedules(store, PATTERN, count));
  lab.note(`filled ${count} schedules in ${Math.round((performance.now() - started) / 1000)} s`);
  return place;
}

async function withStore<Made>(
  { folder, postgres }: Place,
  use: (store: Store) => Promise<Made>,
): Promise<Made> {
  const store =
    postgres === undefined
      ? openSqliteStore({ path: join(folder, 'weft.db') })
      : await openPostgresStore({ url: postgres.url, schema: postgres.schema });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function measure(lab: Lab, place: Place): Promise<Measured> {
  const lookUs = await withStore(place, lookTime);
  const server = await weft.start(place, lab.echo);
  try {
    const database = place.postgres === undefined ? undefined : await lab.postgres();
    const cpuMs = (): number => (server.cpuMs() ?? Number.NaN) + (database?.cpuMs() ?? 0);
    await pause(sized(lab, SETTLE_MS, 1_000));
    const [cpu, statements, from] = [cpuMs(), await database?.transactions(), performance.now()];
    await pause(sized(lab, 20_000, 2_000));
    const seconds = (performance.now() - from) / 1_000;
    const ended = await database?.transactions();
    return {
      lookUs,
      idleCpuMs: (cpuMs() - cpu) / seconds,
      statements: ended === undefined ? undefined : (ended - (statements ?? 0)) / seconds,
      latenessMs: await lateness(lab, { port: server.port, key: KEY }),
    };
  } finally {
    await server.stop();
  }
}

async function lookTime(store: Store): Promise<number> {
  const looks = async (): Promise<number> => {
    const started = performance.now();
    for (let count = 0; count < LOOKS; count += 1) await store.claimDueDocuments(DUE, CLAIMED, LEASE_MS);
    return ((performance.now() - started) * 1_000) / LOOKS;
  };
  await looks();
  return await looks();
}

/** Of a schedule that is due every second, for a few of them. */
async function lateness(lab: Lab, target: Target): Promise<number> {
  const name = 'each-second';
  const body = { name, workflowId: workloadOf('A').workflowId, everyMs: 1_000, overlap: 'allow' };
  await expectCall(target, { method: 'POST', path: SCHEDULES, body: JSON.stringify(body) }, 201);
  await pause(sized(lab, 12_000, 3_500));
  const { text } = await expectCall(target, { path: `${SCHEDULES}/${name}` }, 200);
  const { firings } = JSON.parse(text) as { firings: readonly { dueAt: string; runId?: string }[] };
  const late: number[] = [];
  for (const { dueAt, runId } of firings) {
    if (runId === undefined) continue;
    const run = await expectCall(target, { path: `/v1/runs/${runId}` }, 200);
    const { weft: members } = JSON.parse(run.text) as { weft: { createdAt: string } };
    late.push(Date.parse(members.createdAt) - Date.parse(dueAt));
  }
  await call(target, { method: 'DELETE', path: `${SCHEDULES}/${name}` });
  late.sort((a, b) => a - b);
  return late[Math.floor(late.length / 2)] ?? Number.NaN;
}
