/** What a published package brings along from others when it is installed. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../bootstrap.mjs';
import { packageIn } from './published-packages.mjs';

/** Every package that an installation of this one contains and that is not ours, with its folder, sorted by name. */
export function thirdPartyPackages(published) {
  const found = new Map();
  const visited = new Set();
  const waiting = [published];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (visited.has(next.folder)) continue;
    visited.add(next.folder);
    const { name, version, dependencies = {}, optionalDependencies = {} } = next.manifest;
    if (!name.startsWith('@weft/')) found.set(`${name}@${version}`, next);
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const folder = installedFolder(dependency, next.folder);
      // Binaries for other platforms are optional, and not installed here.
      if (folder !== undefined) waiting.push(packageIn(folder));
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

function installedFolder(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (folder === ROOT || folder === dirname(folder)) return undefined;
  }
}

/** What a package says that contains code of others: the page, which is bundled. */
export function bundledNotices(folder) {
  const path = join(folder, 'dist/THIRD-PARTY-NOTICES.txt');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** The page that goes into the tarball. */
export function noticesOf(published) {
  const rows = thirdPartyPackages(published).map(
    ({ manifest }) => `| ${manifest.name} | ${manifest.version} | ${licenseOf(manifest)} |`,
  );
  const none = `${published.manifest.name} contains no code of others and installs none.\n`;
  const table = [
    `${published.manifest.name} contains no code of others. Installing it installs these packages, each under its own license:`,
    '',
    '| package | version | license |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
  return `# Third-party notices\n\n${rows.length === 0 ? none : table}`;
}

function licenseOf({ license, licenses }) {
  if (typeof license === 'string') return license;
  return (licenses ?? [license]).map((each) => each?.type ?? 'unknown').join(', ');
}
