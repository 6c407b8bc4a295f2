/**
 * `npm run release`: builds the tarballs that a person may publish, and says what speaks against it. It publishes nothing.
 * Exit codes: 0 ready, 1 not ready.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ensureReady, ROOT } from './bootstrap.mjs';
import { problemsOf } from './release/check-tarball.mjs';
import { publishedPackages } from './release/published-packages.mjs';
import { packAll } from './release/stage.mjs';
import { readTarball } from './release/tarball.mjs';
import { versionProblems } from './release/versions.mjs';

ensureReady();
const folder = join(ROOT, 'release');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
const problems = versionProblems(publishedPackages(), readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'));
console.log('packing …');
for (const { name, path } of packAll(folder)) {
  const files = readTarball(path);
  const found = problemsOf(files, JSON.parse(files.get('package.json').toString('utf8')));
  problems.push(...found.map((problem) => `${name}: ${problem}`));
  console.log(`${relative(ROOT, path)}  ${files.size} files`);
}
rmSync(join(folder, 'tree'), { recursive: true });
for (const problem of problems) console.error(`not ready: ${problem}`);
if (problems.length === 0)
  console.log(
    '\nReady. A person publishes, in this order of dependencies:\n  npm publish release/tarballs/NAME.tgz',
  );
process.exitCode = problems.length === 0 ? 0 : 1;
