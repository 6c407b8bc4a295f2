import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Scenario, sized } from '../measuring/scenario.ts';
import { createTally } from '../measuring/tally.ts';

const PROGRAMS = join(import.meta.dirname, '../../../evidence/bench');
const PLAIN = 'plain script: parse, set, sort, dump';
const SHAPES = [
  { name: 'sorted', title: 'sorted paths' },
  { name: 'unsorted', title: 'unsorted paths' },
  { name: 'escaped', title: 'unsorted paths with escapes, a fifth repeated' },
] as const;
/** Nothing here takes as long. */
const PATIENCE_MS = 120_000;

const execute = promisify(execFile);

export const evidence: Scenario = {
  name: 'evidence',
  title: 'Evidence: one diff of two runs with a million paths each',
  rawLimit: 'the same diff in the obvious way, in turn; each a new process, start included',
  goals: ['G13'],
  async measure(lab) {
    const tally = createTally();
    const paths = sized(lab, 1_000_000, 20_000);
    for (const { name, title } of SHAPES) {
      const pair = lab.newFolder(`evidence-${name}`);
      await run('generate.mjs', [pair, String(paths), name]);
      for (let round = 0; round < lab.rounds; round += 1) {
        const out = join(pair, 'out.json');
        // The first one finds the files less warm in the system's cache, so that changes too.
        const order = round % 2 === 0 ? ['project.mjs', 'plain.mjs'] : ['plain.mjs', 'project.mjs'];
        const measured = new Map<string, Measured>();
        for (const program of order) measured.set(program, await run(program, [pair, out]));
        const [ours, plain] = [measured.get('project.mjs'), measured.get('plain.mjs')];
        tally.add(`evidence/${name}/time`, { title, unit: 's', better: 'less' }, ours?.seconds);
        tally.against(`evidence/${name}/time`, PLAIN, plain?.seconds);
        const memory = { title: `${title}, peak memory`, unit: 'MiB', better: 'less' } as const;
        tally.add(`evidence/${name}/memory`, memory, ours?.mebibytes);
        tally.against(`evidence/${name}/memory`, PLAIN, plain?.mebibytes);
      }
      rmSync(pair, { recursive: true, force: true });
      lab.note(`${name}: done`);
    }
    return { figures: tally.figures() };
  },
};

interface Measured {
  readonly seconds: number;
  readonly mebibytes: number;
}

async function run(program: string, args: readonly string[]): Promise<Measured> {
  const started = performance.now();
  const { stdout } = await execute(process.execPath, [join(PROGRAMS, program), ...args], {
    timeout: PATIENCE_MS,
  });
  return { seconds: (performance.now() - started) / 1000, mebibytes: Number(stdout) / 1024 };
}
