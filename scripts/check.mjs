/** `npm run check`: format, lint (with types, and the import arrows), types, dead code. Runs all four; runs no tests. */
import { ensureReady, run, seconds, tool } from './bootstrap.mjs';

// What git ignores (builds, bench results) is no one's to format.
const GIT_IGNORED = ['--vcs-enabled=true', '--vcs-client-kind=git', '--vcs-use-ignore-file=true'];

const STEPS = [
  ['format', tool('@biomejs/biome/bin/biome'), 'format', ...GIT_IGNORED, '.'],
  ['lint', tool('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings'],
  ['types', tool('typescript/bin/tsc'), '-b'],
  ['dead code', tool('knip/bin/knip.js')],
];

ensureReady({ build: false });
const failed = [];
for (const [name, ...command] of STEPS) {
  const started = performance.now();
  const code = await run(process.execPath, command);
  process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds(started)})\n`);
  if (code !== 0) failed.push(name);
}
process.stdout.write(failed.length === 0 ? 'check passed\n' : `check failed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
