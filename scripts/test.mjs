/**
 * `npm test`: makes the clone ready (process tests start the built CLI), then runs every test, and on newer versions of Node
 * those that depend on it most. With arguments, which go to vitest, only what they select, on this Node.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasBrowser } from './browser/browser.mjs';
import { ensureReady, ensureTools, ROOT, run, tool } from './bootstrap.mjs';
import { environmentOf, newerNodes } from './newer-nodes.mjs';
import { OUTSIDE_DATA } from './outside-data.mjs';

/**
 * The tarballs on newer Nodes are tests of their own: release/install.int.test.mjs. Unit tests depend on the language alone, so the
 * newest version speaks for those between it and the oldest; the SQLite binding is compiled for each.
 */
const ON_EVERY_NEWER_NODE = [{ name: 'the SQLite store', args: ['packages/storage/src/sqlite'] }];
const ON_THE_NEWEST_NODE = [{ name: 'unit tests', args: ['--project', 'unit'] }, ...ON_EVERY_NEWER_NODE];

ensureReady();
ensureTools();
const folder = mkdtempSync(join(tmpdir(), 'weft-test-counts-'));
const countsFile = join(folder, 'counts');
writeFileSync(countsFile, '');
const given = process.argv.slice(2);
const notRun = [];
if (!hasBrowser())
  notRun.push('the SDK and the studio in a browser, for which npm has no binary on this platform');
if (spawnSync('python3', ['--version']).status !== 0)
  notRun.push('the worker in Python, because there is no python3');
// As packages/cli/src/scenarios/other-user.int.test.ts asks.
const asAnotherUser = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath];
if (spawnSync('setpriv', [...asAnotherUser, `${ROOT}/packages/cli/bin/weft.mjs`, '--version']).status !== 0)
  notRun.push(
    'packs on a host of another user, for which it takes root on Linux and a clone that others can read',
  );
let code = await vitest(process.execPath, given);
if (given.length === 0) {
  const nodes = newerNodes();
  for (const { version, path } of nodes) {
    const selected = version === nodes.at(-1).version ? ON_THE_NEWEST_NODE : ON_EVERY_NEWER_NODE;
    if (path === undefined)
      notRun.push(
        `${selected.map(({ name }) => name).join(', ')} and the tarballs on Node ${version}, for which npm has no binary on this platform`,
      );
    else
      for (const { name, args } of selected) {
        process.stdout.write(`\n${name} on Node ${version}\n`);
        code = (await vitest(path, ['--reporter=dot', ...args])) || code;
      }
  }
}
for (const what of notRun) process.stdout.write(`not run: ${what}\n`);
const { passed, failed, skipped, extra } = total();
for (const name of failures()) process.stdout.write(`failed: ${name.slice(0, 300)}\n`);
rmSync(folder, { recursive: true });
process.stdout.write(
  Object.keys(OUTSIDE_DATA).length === 0
    ? 'no extra checks: the data of others that they compare with is not next to this checkout\n'
    : `${extra} extra checks with data of others that is next to this checkout\n`,
);
// The last line is the count alone, for people and scripts that read only the end.
process.stdout.write(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}\n`);
process.exitCode = code;

function vitest(node, args) {
  const isQuiet = args.some((arg) => arg.startsWith('--reporter'));
  const reporters = [...(isQuiet ? [] : ['--reporter=default']), '--reporter=./scripts/count-reporter.mjs'];
  return run(node, [tool('vitest/vitest.mjs'), 'run', ...reporters, ...args], {
    env: { ...environmentOf(node), TEST_COUNTS_FILE: countsFile },
  });
}

/** Of all that have run. */
function total() {
  const sum = { passed: 0, failed: 0, skipped: 0, extra: 0 };
  for (const { counts } of results()) for (const [name, count] of Object.entries(counts)) sum[name] += count;
  return sum;
}

/** Their messages stand far above when several versions of Node have run. */
function failures() {
  return results().flatMap((result) => result.failures);
}

function results() {
  return readFileSync(countsFile, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
