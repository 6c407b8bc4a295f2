/** The packages that are published: those of packages/ that are not private. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap.mjs';

/** In the order of their names. */
export function publishedPackages() {
  return readdirSync(join(ROOT, 'packages'))
    .sort()
    .map((name) => packageIn(join(ROOT, 'packages', name)))
    .filter(({ manifest }) => manifest.private !== true);
}

export function packageIn(folder) {
  return { folder, manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) };
}
