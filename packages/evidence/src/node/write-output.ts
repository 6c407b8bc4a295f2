import {
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { randomBytes } from 'node:crypto';

/** Why a file may not be written here; undefined when it may. An input folder is off limits as a whole. */
export function outputConflict(output: string, inputs: readonly string[]): string | undefined {
  const target = realTarget(output);
  for (const input of inputs) {
    const source = realTarget(input);
    if (target === source || isInside(source, target) || isSameFile(target, source))
      return `${output} is part of the input ${input}`;
  }
  return undefined;
}

/** The whole file or nothing: written next to its place, then renamed. A reader never sees half of it. */
export function writeOutput(output: string, produce: (write: (piece: Uint8Array) => void) => void): void {
  const target = resolve(output);
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.part`);
  const file = openSync(temporary, 'wx', 0o666);
  try {
    try {
      produce((piece) => writeAll(file, piece));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function writeAll(file: number, piece: Uint8Array): void {
  for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
}

/** Links resolved as far as the path exists. */
function realTarget(path: string): string {
  const full = resolve(path);
  try {
    return realpathSync(full);
  } catch {
    const parent = dirname(full);
    return parent === full ? full : join(realTarget(parent), basename(full));
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return (
    way !== '' &&
    way !== '..' &&
    !way.startsWith(`..${sep}`) &&
    statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  );
}

/** Two names of one file: hard links. */
function isSameFile(left: string, right: string): boolean {
  const [a, b] = [left, right].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}
