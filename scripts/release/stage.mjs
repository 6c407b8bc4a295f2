/**
 * Published packages as they are packed: built from the tracked files alone, in a folder of their own, so that nothing a working copy
 * has left behind gets into a tarball.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT, tool } from '../bootstrap.mjs';
import { inlinePlain } from './inline-plain.mjs';
import { publishedPackages } from './published-packages.mjs';
import { bundledNotices, noticesOf } from './third-party.mjs';

/** Builds and packs everything into `folder`/tarballs. Answers name, version and path of each tarball. */
export function packAll(folder) {
  const tree = join(folder, 'tree');
  const tarballs = join(folder, 'tarballs');
  for (const each of [tree, tarballs]) mkdirSync(each, { recursive: true });
  copyTracked(tree);
  linkModules(tree);
  // Before the SDK gets copies of what the page has already.
  must(
    process.execPath,
    [tool('vite/bin/vite.js'), 'build', '--logLevel', 'error'],
    join(tree, 'packages/studio'),
  );
  inlinePlain(join(tree, 'packages'));
  must(process.execPath, [tool('typescript/bin/tsc'), '-b'], tree);
  const published = publishedPackages();
  for (const each of published) complete(join(tree, relative(ROOT, each.folder)), each);
  const folders = published.map((each) => join(tree, relative(ROOT, each.folder)));
  must('npm', ['pack', '--silent', '--pack-destination', tarballs, ...folders], tree);
  return published.map(({ manifest: { name, version } }) => ({
    name,
    version,
    path: join(tarballs, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`),
  }));
}

/** Everything that is installed, and our own packages from the tree that is built, so that each is compiled by its own settings. */
function linkModules(tree) {
  const [from, to] = [join(ROOT, 'node_modules'), join(tree, 'node_modules')];
  mkdirSync(join(to, '@weft'), { recursive: true });
  for (const name of readdirSync(from)) if (name !== '@weft') symlinkSync(join(from, name), join(to, name));
  for (const name of readdirSync(join(tree, 'packages')))
    symlinkSync(join(tree, 'packages', name), join(to, '@weft', name));
}

/** Files that are new and not ignored count: what is about to be committed is tested, too. */
function copyTracked(tree) {
  const args = [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '-z',
    'packages',
    '*.json',
    'LICENSE',
  ];
  for (const name of must('git', args, ROOT).split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(tree, name)), { recursive: true });
    cpSync(join(ROOT, name), join(tree, name), { force: true });
  }
}

/** What every tarball has and no folder of the sources needs; and without what only the tests of other packages import. */
function complete(folder, published) {
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.md'), bundledNotices(folder) ?? noticesOf(published));
  const { devDependencies: _devDependencies, ...manifest } = published.manifest;
  const exports = Object.entries(manifest.exports ?? {})
    .filter(([, target]) => !JSON.stringify(target).includes('/testing/'))
    .map(([name, { '@weft/source': _source, ...target }]) => [name, target]);
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ ...manifest, exports: Object.fromEntries(exports) }, null, 2)}\n`,
  );
}

/** What it printed. */
function must(program, args, cwd) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`${program} ${args.slice(0, 3).join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}
