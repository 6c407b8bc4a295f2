/**
 * The SDK is published without dependencies: the files behind `@weft/protocol/plain`, which need nothing themselves, become files of
 * its own before it is built. So modules, types and source maps lead to each other as if they had been written there.
 */
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';

const PLAIN = '@weft/protocol/plain';

/** In a copy of the sources, never in the repository itself. */
export function inlinePlain(packages) {
  const from = join(packages, 'protocol/src');
  const sdk = join(packages, 'sdk/src');
  for (const name of closureOf(from, 'plain.ts')) {
    mkdirSync(dirname(join(sdk, 'protocol', name)), { recursive: true });
    cpSync(join(from, name), join(sdk, 'protocol', name));
  }
  for (const name of readdirSync(sdk, { recursive: true })) {
    if (!name.endsWith('.ts')) continue;
    const path = join(sdk, name);
    const up = relative(dirname(path), sdk).split(sep).join('/') || '.';
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(`'${PLAIN}'`, `'${up}/protocol/plain.ts'`));
  }
}

/** A file and all that it leads to, as paths below the folder. */
function closureOf(folder, entry) {
  const found = new Set([entry]);
  for (const name of found) {
    for (const [, path] of readFileSync(join(folder, name), 'utf8').matchAll(/ from '([^']+)';/g)) {
      if (!path.startsWith('.')) throw new Error(`${name} imports ${path}, and ${PLAIN} must need nothing`);
      found.add(posix.join(posix.dirname(name), path));
    }
  }
  return found;
}
