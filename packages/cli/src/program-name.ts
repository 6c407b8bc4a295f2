/** How this program is called where its user is: the one place that decides what a printed command begins with. */
import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { shellWord } from './output/shell-word.ts';

/** With its scope: the package that is called like the command alone is not ours. */
const FROM_REGISTRY = 'npx @weft/cli';

export interface Surroundings {
  /** The folder of this package. */
  readonly packageFolder: string;
  readonly cwd: string;
  readonly searchPath: string;
  /** Where a path leads; undefined where nothing is. */
  readonly realPath: (path: string) => string | undefined;
}

/** `weft` where the shell finds this very program by that name; in a clone its launcher; elsewhere by the registry's name. */
export function programNameIn({ packageFolder, cwd, searchPath, realPath }: Surroundings): string {
  const launcher = resolve(packageFolder, '../../weft');
  const isClone = !packageFolder.split(sep).includes('node_modules') && realPath(launcher) !== undefined;
  const ours = [join(packageFolder, 'bin/weft.mjs'), ...(isClone ? [launcher] : [])];
  const onPath = searchPath
    .split(delimiter)
    // npm puts these there for what it starts; the user's shell does not have them.
    .filter((folder) => isAbsolute(folder) && !folder.endsWith(join('node_modules', '.bin')))
    .map((folder) => realPath(join(folder, 'weft')))
    .find((found) => found !== undefined);
  if (onPath !== undefined && ours.includes(onPath)) return 'weft';
  if (!isClone) return FROM_REGISTRY;
  const way = relative(resolve(packageFolder, '../..'), cwd);
  if (way.startsWith('..') || isAbsolute(way)) return shellWord(launcher);
  return way === '' ? `.${sep}weft` : relative(cwd, launcher);
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

export const PROGRAM = programNameIn({
  packageFolder: resolve(import.meta.dirname, '..'),
  cwd: process.cwd(),
  searchPath: process.env['PATH'] ?? '',
  realPath: realPathOf,
});

/** Our own words about our own commands, such as help and hints: `weft runs ls` as it is typed here. */
export function asTypedHere(text: string, program = PROGRAM): string {
  return text.replace(/(?<![\w./@-])weft (?=[a-z-]|COMMAND\b)/g, () => `${program} `);
}
