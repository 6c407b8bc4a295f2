import { join } from 'node:path';
import { type Call, expectCall } from '../load/calls.ts';
import { KEY, weft } from '../hosts/contenders.ts';
import { longRuns } from '../fill/long-runs.ts';
import type { Target } from '../load/http-connection.ts';
import { median } from '../measuring/measure.ts';
import { openRawReader, type RawReader } from '../raw/raw-reader.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import { type About, createTally, type Tally } from '../measuring/tally.ts';

/** What a page, or a resumed stream, is asked for: the last events of the log. */
const TAIL = 5;
const WARM_UPS = 20;

interface Question {
  readonly name: string;
  readonly title: string;
  /** In one round. */
  readonly times: number;
  call(run: string, other: string, length: number): Call;
  /** The same rows, read from the file without a host. */
  raw(reader: RawReader, run: string, other: string, length: number): void;
}

function questions(lab: Lab): readonly Question[] {
  const many = sized(lab, 100, 20);
  return [
    {
      name: 'poll',
      title: `poll of the last ${TAIL} events`,
      times: many,
      call: (run, _other, length) => ({
        path: `/v1/runs/${run}/events/poll?lastSequence=${length - TAIL - 1}&limit=${TAIL}&timeout=1`,
      }),
      raw: (reader, run, _other, length) => reader.events(run, length - TAIL, TAIL),
    },
    {
      name: 'snapshot',
      title: 'snapshot',
      times: many,
      call: (run) => ({ path: `/v1/runs/${run}` }),
      raw: (reader, run) => reader.checkpoint(run),
    },
    {
      name: 'resume',
      title: `stream resumed ${TAIL} events before the end, to its first event`,
      times: many,
      call: (run, _other, length) => ({
        path: `/v1/runs/${run}/events?streamMode=debug`,
        headers: { accept: 'text/event-stream', 'last-event-id': String(length - TAIL - 1) },
        untilEvent: true,
      }),
      raw: (reader, run, _other, length) => reader.events(run, length - TAIL, TAIL),
    },
    {
      name: 'bundle',
      title: 'debug bundle (cut at 8 MiB)',
      times: 1,
      call: (run) => ({ path: `/v1/runs/${run}/debug-bundle` }),
      raw: (reader, run) => reader.eventsUpToBytes(run, 7 * 1024 * 1024),
    },
    {
      name: 'diff',
      title: 'diff of two equal runs',
      times: 1,
      call: (run, other) => ({ path: `/v1/runs/${run}:diff?against=${other}` }),
      raw(reader, run, other, length) {
        reader.events(run, 0, length);
        reader.events(other, 0, length);
      },
    },
  ];
}

/** A question whose cost must not depend on the length of the log. */
const FLAT = ['poll', 'snapshot', 'resume'];

/** Commands per round and run. */
const CLAIMS = 40;

export const history: Scenario = {
  name: 'history',
  title: 'Reading runs with 10, 10,000 and 1,000,000 events',
  rawLimit: 'the same rows read from the SQLite file without a host',
  goals: ['G9'],
  async measure(lab) {
    const lengths = historyLengths(lab);
    const { folder, runs } = await longRuns(lab, lengths);
    const tally = createTally();
    const server = await weft.start({ folder }, lab.echo);
    lab.cleanUp(() => server.stop());
    const target = { port: server.port, key: KEY };
    const reader = openRawReader(join(folder, 'weft.db'));
    lab.cleanUp(() => reader.close());

    for (const question of questions(lab)) await warmUp(target, question, runs);
    for (let round = 0; round < lab.rounds; round += 1) {
      for (const question of questions(lab)) {
        const byLength = new Map<number, number>();
        for (const [length, [run, other]] of round % 2 === 0 ? [...runs] : [...runs].toReversed()) {
          const ms = await medianOf(question.times, () =>
            expectCall(target, question.call(run, other, length), 200).then((called) => called.ms),
          );
          const raw = await medianOf(question.times, () =>
            timed(() => question.raw(reader, run, other, length)),
          );
          byLength.set(length, ms);
          const key = `history/${question.name}/${length}`;
          tally.add(key, about(`${question.title}, ${count(length)} events`), ms);
          tally.against(key, 'the same rows read raw', raw);
        }
        if (FLAT.includes(question.name)) addFlat(tally, question, byLength);
      }
      lab.note(`round ${round + 1}: read`);
    }
    await measureClaims(lab, tally, target, runs);
    return { figures: tally.figures() };
  },
};

export function historyLengths(lab: Lab): readonly number[] {
  return sized(lab, [10, 10_000, 100_000, 1_000_000], [10, 1_000, 20_000]);
}

/** On short logs, and as often for every question, so that the first one measured is not the one that pays for compiling. */
async function warmUp(
  target: Target,
  { times, call }: Question,
  runs: ReadonlyMap<number, readonly [string, string]>,
): Promise<void> {
  for (const [length, [run, other]] of [...runs].slice(0, 2)) {
    for (let time = 0; time < times + WARM_UPS; time += 1)
      await expectCall(target, call(run, other, length), 200);
  }
}

function addFlat(tally: Tally, { name, title }: Question, byLength: ReadonlyMap<number, number>): void {
  const [shortest, longest] = [Math.min(...byLength.keys()), Math.max(...byLength.keys())];
  const key = `history/flat/${name}`;
  tally.add(key, about(`${title}, at event ${count(longest)}`), byLength.get(longest));
  tally.against(key, `at event ${count(shortest)}`, byLength.get(shortest));
}

/**
 * A pause takes a waiting run into memory: claimed, folded from its checkpoint, decided, written, released. It is refused, because
 * the run already waits for an answer, so the same run can be asked again and again.
 */
async function measureClaims(
  lab: Lab,
  tally: Tally,
  target: Target,
  runs: ReadonlyMap<number, readonly [string, string]>,
): Promise<void> {
  const claimed = (length: number) =>
    medianOf(CLAIMS, async () => {
      const path = `/v1/runs/${runs.get(length)?.[0] ?? ''}:pause`;
      return (await expectCall(target, { method: 'POST', path, body: '{}' }, 409)).ms;
    });
  const [shortest, longest] = [Math.min(...runs.keys()), Math.max(...runs.keys())];
  const title = `claim (a command) at event ${count(longest)}`;
  for (const length of [shortest, longest]) await claimed(length); // to warm up
  for (let round = 0; round < lab.rounds; round += 1) {
    tally.against('history/flat/claim', `at event ${count(shortest)}`, await claimed(shortest));
    tally.add('history/flat/claim', about(title), await claimed(longest));
  }
}

function about(title: string): About {
  return { title, unit: 'ms', better: 'less' };
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

async function timed(work: () => void): Promise<number> {
  const started = performance.now();
  work();
  return performance.now() - started;
}

async function medianOf(times: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let time = 0; time < times; time += 1) values.push(await measure());
  return median(values);
}
