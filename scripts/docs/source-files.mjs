import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap.mjs';

export const PACKAGES = readdirSync(join(ROOT, 'packages'));

/** All TypeScript files of all packages, as paths from the root, in a stable order. */
export function sourceFiles() {
  return PACKAGES.flatMap((name) =>
    readdirSync(join(ROOT, 'packages', name, 'src'), { recursive: true })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `packages/${name}/src/${file.replaceAll('\\', '/')}`),
  ).sort();
}
