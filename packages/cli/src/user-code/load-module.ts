import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleModule } from './bundle-module.ts';
import { UserCodeError } from './user-code-error.ts';

export interface LoadedModule {
  readonly exports: Readonly<Record<string, unknown>>;
  /** The files that it was made of: when one of them changes, so does the module. */
  readonly files: readonly string[];
}

/**
 * Builds a user's file (TypeScript or JavaScript) and runs it in this process: never in that of a host. What it throws comes as
 * UserCodeError, with file and line.
 */
export async function loadModule(file: string): Promise<LoadedModule> {
  const { code, files } = await bundleModule(file);
  process.setSourceMapsEnabled(true);
  const folder = await mkdtemp(join(tmpdir(), 'weft-module-'));
  try {
    const name = createHash('sha256').update(code).digest('hex').slice(0, 16);
    const address = join(folder, `${name}.mjs`);
    await writeFile(address, code);
    const exports = (await import(pathToFileURL(address).href)) as Record<string, unknown>;
    return { exports, files };
  } catch (error) {
    throw new UserCodeError([problemOf(error, resolve(file))], error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A place in a stack trace that the source map has led back to the user's file. */
const PLACE = /\(?((?:file:\/\/|\/)[^\s()]+?|[A-Za-z]:\\[^()]+?):(\d+):(\d+)\)?$/;

function problemOf(
  error: unknown,
  entry: string,
): { file: string; line?: number; column?: number; message: string } {
  if (!(error instanceof Error)) return { file: entry, message: `threw ${String(error)}` };
  const message = `${error.name}: ${error.message}`;
  for (const line of (error.stack ?? '').split('\n')) {
    const [, place = '', row, column] = PLACE.exec(line.trim()) ?? [];
    if (place === '' || place.includes('node_modules') || place.startsWith('node:')) continue;
    const file = place.startsWith('file:') ? fileURLToPath(place) : place;
    if (file.endsWith('.mjs') && file.includes('weft-module-')) continue;
    return { file, line: Number(row), column: Number(column), message };
  }
  return { file: entry, message };
}
