import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDriver } from '../load/driver.ts';
import { startEchoServer } from '../load/echo-server.ts';
import { type PostgresServer, startPostgres } from '../hosts/postgres-server.ts';
import type { ScenarioResult } from '../report/results.ts';
import type { Lab, Outcome, Scenario } from './scenario.ts';
import { WARM_UP } from './warm-up.ts';

export interface OpenLab {
  /** Never rejects: a scenario that fails is a result, too. */
  run(scenario: Scenario): Promise<ScenarioResult>;
  close(): Promise<void>;
}

export interface LabOptions {
  readonly quick: boolean;
  readonly rounds: number;
  note(line: string): void;
}

/** Nothing here takes as long; a scenario that does is stuck, and the others shall have their turn. */
const LONGEST_MS = 20 * 60_000;

export async function openLab({ quick, rounds, note }: LabOptions): Promise<OpenLab> {
  const root = mkdtempSync(join(process.env['WEFT_BENCH_DIR'] ?? tmpdir(), 'weft-bench-'));
  const removeAll = () => rmSync(root, { recursive: true, force: true });
  process.once('exit', removeAll);
  const echo = await startEchoServer();
  const made = new Map<string, Promise<unknown>>();
  let postgres: Promise<PostgresServer> | undefined;
  let folders = 0;
  let driver = startDriver();
  let cleanUps: (() => Promise<unknown> | void)[] = [];

  const shared = {
    quick,
    rounds,
    cellMs: quick ? 700 : 1_500,
    warmUpMs: quick ? 500 : WARM_UP.seconds * 1000,
    echo,
    note,
    newFolder(name: string) {
      const folder = join(root, `${(folders += 1)}-${name}`);
      mkdirSync(folder, { recursive: true });
      return folder;
    },
    postgres: () => (postgres ??= startPostgres()),
    once<Made>(name: string, make: () => Promise<Made>): Promise<Made> {
      const known = made.get(name) ?? make();
      made.set(name, known);
      // A failure is not kept: the next scenario that needs it tries again.
      known.catch(() => made.delete(name));
      return known as Promise<Made>;
    },
    cleanUp: (action: () => Promise<unknown> | void) => void cleanUps.push(action),
  };

  async function tidy(): Promise<void> {
    for (const action of cleanUps.splice(0).reverse()) {
      await Promise.resolve(action()).catch((error: unknown) => note(`cleaning up failed: ${String(error)}`));
    }
  }

  async function attempt(scenario: Scenario): Promise<Outcome & { readonly failure?: string }> {
    const lab: Lab = { ...shared, driver };
    try {
      return await inTime(scenario.measure(lab));
    } catch (error) {
      note(`FAILED ${scenario.name}: ${error instanceof Error ? error.stack : String(error)}`);
      // Whatever it was in the middle of is not to be mixed up with the next one's work.
      driver.close();
      driver = startDriver();
      // A server that did not start may start for the next one.
      postgres?.catch(() => (postgres = undefined));
      return { figures: [], failure: error instanceof Error ? error.message : String(error) };
    } finally {
      await tidy();
    }
  }

  return {
    async run(scenario) {
      note(`— ${scenario.name}: ${scenario.title}`);
      const started = performance.now();
      const { figures, series = [], failure } = await attempt(scenario);
      const seconds = Math.round((performance.now() - started) / 100) / 10;
      note(`— ${scenario.name}: ${failure === undefined ? 'done' : 'failed'} in ${seconds} s`);
      const { name, title, rawLimit } = scenario;
      const result = { name, title, rawLimit, at: new Date().toISOString(), seconds, figures, series };
      return failure === undefined ? result : { ...result, failure };
    },
    async close() {
      cleanUps = [];
      driver.close();
      await echo.close();
      await (await postgres?.catch(() => undefined))?.remove();
      removeAll();
    },
  };
}

async function inTime<Value>(work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not over after ${LONGEST_MS / 60_000} minutes`)), LONGEST_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
