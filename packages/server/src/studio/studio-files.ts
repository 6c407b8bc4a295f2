import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

/** One file of the page, whole in memory: there are a few megabytes of them, and no request leads to a file system. */
export interface StudioFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Of the uncompressed bytes, without quotes. */
  readonly etag: string;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
  /** As built next to it. */
  readonly packed: { readonly br?: Buffer; readonly gzip?: Buffer };
}

/** By the path below the page, with slashes. `index.html` is always there. */
export type StudioFiles = ReadonlyMap<string, StudioFile>;

export const INDEX = 'index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};

const HASHED = /^assets\/.*-[A-Za-z0-9_-]{8,}\.\w+$/;

/** Reads a built page. Undefined when there is none in the folder. What is no regular file, such as a link, is left out. */
export async function readStudioFiles(folder: string): Promise<StudioFiles | undefined> {
  const found = await contentsOf(folder);
  if (!found.has(INDEX)) return undefined;
  const files = new Map<string, StudioFile>();
  for (const [name, bytes] of found) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const [br, gzip] = [found.get(`${name}.br`), found.get(`${name}.gz`)];
    files.set(name, {
      type,
      bytes,
      etag: createHash('sha256').update(bytes).digest('base64url').slice(0, 22),
      isImmutable: HASHED.test(name),
      packed: { ...(br !== undefined && { br }), ...(gzip !== undefined && { gzip }) },
    });
  }
  return files;
}

async function contentsOf(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(emptyIfMissing);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    contents.set(relative(folder, path).replaceAll(sep, '/'), await readFile(path));
  }
  return contents;
}

function emptyIfMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
  throw error;
}
