/** The newer versions of Node in tools/nodes: tests run on them next to the Node that runs everything. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { ROOT } from './bootstrap.mjs';

const FOLDER = join(ROOT, 'tools/nodes');
/** npm has them as packages, one for each platform; this is the one of tools/nodes. */
const PLATFORM = 'linux-x64';

/** By version, the oldest first. `path` is absent where there is no binary for this machine. */
export function newerNodes() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8'));
  return Object.entries(optionalDependencies).map(([name, wanted]) => {
    const path = join(FOLDER, 'node_modules', name, 'bin/node');
    const version = wanted.slice(wanted.lastIndexOf('@') + 1);
    if (`${process.platform}-${process.arch}` !== PLATFORM) return { version };
    if (!existsSync(path))
      throw new Error(`${path} is missing. Remove tools/nodes/node_modules and run npm test.`);
    return { version, path };
  });
}

/** The environment in which `node` is this one, for whatever is started. */
export function environmentOf(path) {
  return { ...process.env, PATH: `${dirname(path)}${delimiter}${process.env.PATH}` };
}
