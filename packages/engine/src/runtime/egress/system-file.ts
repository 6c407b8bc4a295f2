import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** A small file of the system, read again after it was changed; absent or unreadable means empty. */
export type SystemFile<Value> = () => Value;

export interface SystemFileOptions<Value> {
  readonly path: string;
  readonly parse: (text: string) => Value;
  readonly monotonic?: () => number;
}

/** What stands behind it is not read: such files are written by people. */
const MOST_BYTES = 4 * 1024 * 1024;
const LOOK_AGAIN_MS = 1_000;

/** Looked at once per second at most, and without the thread pool, which others may keep busy. */
export function createSystemFile<Value>(options: SystemFileOptions<Value>): SystemFile<Value> {
  const { path, parse, monotonic = () => performance.now() } = options;
  let value = parse('');
  let version = '';
  let lookAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = monotonic();
    if (now < lookAt) return value;
    lookAt = now + LOOK_AGAIN_MS;
    const found = read(path, version);
    if (found === undefined) return value;
    version = found.version;
    value = parse(found.text);
    return value;
  };
}

/** Undefined when it is as it was. */
function read(path: string, known: string): { readonly version: string; readonly text: string } | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { mtimeMs, size, ino } = fstatSync(file);
    const version = `${ino} ${mtimeMs} ${size}`;
    if (version === known) return undefined;
    const bytes = Buffer.alloc(Math.min(size, MOST_BYTES));
    return { version, text: bytes.toString('utf8', 0, readSync(file, bytes)) };
  } catch {
    return known === '' ? undefined : { version: '', text: '' };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
