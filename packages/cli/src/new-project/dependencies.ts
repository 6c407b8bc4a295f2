import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../version.ts';
import type { ProjectDependencies } from './project-files.ts';

/** The packages that a new project needs: those of the clone that this program runs from, or the versions that it was published with. */
export function dependenciesHere(): Omit<ProjectDependencies, 'name'> {
  const cli = resolve(import.meta.dirname, '../..');
  const sdk = folderOf(fileURLToPath(import.meta.resolve('@weft/sdk')));
  const typebox = folderOf(fileURLToPath(import.meta.resolve('typebox')));
  const isClone = !cli.split(sep).includes('node_modules') && existsSync(join(cli, '../sdk/package.json'));
  if (isClone) return { cli: `file:${cli}`, sdk: `file:${sdk}`, typebox: `file:${typebox}` };
  return { cli: VERSION, sdk: VERSION, typebox: versionIn(typebox) };
}

/** Of the package that a file belongs to. */
function folderOf(file: string): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

function versionIn(folder: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return version;
}
