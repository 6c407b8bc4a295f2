/**
 * Time and peak memory of one cross-runtime diff of a million paths per side, beside the same diff in the obvious way.
 *
 *   npm run build && node packages/evidence/bench/run.mjs --gen /path/to/gen.py [--paths 1000000] [--rounds 3]
 *
 * Each measurement is a fresh process, start included; the two kinds take turns, and the fastest of the rounds counts.
 * Everything it makes lies under the system's temporary folder, in weft-evidence-bench, and is used again next time.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    gen: { type: 'string' },
    paths: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
  },
});
if (values.gen === undefined) throw new Error('Say where the generator lies: --gen /path/to/gen.py');

/** What the published script needs for a million sorted paths, as measured by those who made the generator. */
const REFERENCE = { seconds: [7.0, 8.7], mib: 638 };
const SHAPES = [
  { name: 'sorted', flags: [], time: 1 / 4, memory: 1 / 3 },
  { name: 'unsorted', flags: ['--unsorted'], time: 1 / 2, memory: 1 / 2 },
  { name: 'escaped', flags: ['--unicode', '--unsorted', '--dup', '0.2'], time: 1 / 2, memory: 1 / 2 },
  { name: 'archive', flags: ['--archive'], ending: 'tar.gz', time: 1 / 4, memory: 1 / 3 },
];
const folder = join(tmpdir(), 'weft-evidence-bench');
mkdirSync(folder, { recursive: true });

for (const shape of SHAPES) {
  const pair = join(folder, `${shape.name}-${values.paths}`);
  if (!existsSync(join(pair, 'pair.json')))
    execFileSync('python3', [values.gen, 'pair', '--out', pair, '--paths', values.paths, ...shape.flags]);
  const ours = [];
  const plain = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    ours.push(measure('project.mjs', pair, shape.ending));
    plain.push(measure('plain.mjs', pair));
  }
  report(shape, best(ours), best(plain), digest(join(pair, 'project.mjs.out')));
}

function measure(script, pair, ending) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const more = ending === undefined ? [] : [ending];
  const started = performance.now();
  const maxRss = execFileSync(process.execPath, [path, pair, join(pair, `${script}.out`), ...more], {
    encoding: 'utf8',
  });
  return { seconds: (performance.now() - started) / 1000, mib: Number(maxRss) / 1024 };
}

function best(runs) {
  return {
    seconds: Math.min(...runs.map((run) => run.seconds)),
    mib: Math.min(...runs.map((run) => run.mib)),
  };
}

function digest(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function report(shape, ours, plain, sha256) {
  const figure = ({ seconds, mib }) => `${seconds.toFixed(2)} s ${mib.toFixed(0)} MB`;
  const ratio = (part, whole) => (part / whole).toFixed(2);
  const [low, high] = REFERENCE.seconds;
  process.stdout.write(
    [
      `${shape.name}: ours ${figure(ours)}; plain ${figure(plain)}`,
      `  of plain: time ${ratio(ours.seconds, plain.seconds)}, memory ${ratio(ours.mib, plain.mib)}`,
      `  of the published script's figures: time ${ratio(ours.seconds, high)}-${ratio(ours.seconds, low)} (goal ${shape.time.toFixed(2)}), ` +
        `memory ${ratio(ours.mib, REFERENCE.mib)} (goal ${shape.memory.toFixed(2)})`,
      `  output sha256 ${sha256}`,
      '',
    ].join('\n'),
  );
}
