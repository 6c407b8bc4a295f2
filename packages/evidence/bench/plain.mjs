/** The same diff in the obvious way, parse, set, sort, dump: `node plain.mjs PAIR OUT`. Prints its peak memory in KiB. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CATEGORIES = [
  'filesystem_paths',
  'network_endpoints',
  'process_execs',
  'mcp_tools',
  'policy_decisions',
];
const [pair, out] = process.argv.slice(2);
const info = JSON.parse(readFileSync(join(pair, 'pair.json'), 'utf8'));

function surfaceOf(side) {
  const surface = JSON.parse(readFileSync(join(pair, side, 'capability-surface.json'), 'utf8'));
  const prefix = info[side].work_dir_prefix;
  const canonical = (path) => (path.startsWith(prefix) ? `<work>/${path.slice(prefix.length)}` : path);
  return CATEGORIES.map((name, index) => new Set(index === 0 ? surface[name].map(canonical) : surface[name]));
}

const byUnits = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const base = surfaceOf('base');
const head = surfaceOf('head');
const surface = CATEGORIES.map((name, index) => [
  name,
  {
    added: [...head[index]].filter((value) => !base[index].has(value)).sort(byUnits),
    removed: [...base[index]].filter((value) => !head[index].has(value)).sort(byUnits),
    unchanged: [...base[index]].filter((value) => head[index].has(value)).sort(byUnits),
  },
]);
const text = JSON.stringify({ surface: Object.fromEntries(surface) }, null, 2);
writeFileSync(
  out,
  text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
);
process.stdout.write(`${process.resourceUsage().maxRSS}\n`);
