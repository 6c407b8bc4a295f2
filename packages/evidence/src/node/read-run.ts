import { open, stat } from 'node:fs/promises';
import {
  type CollectOptions,
  collectEvidence,
  type Evidence,
  type EvidenceCollector,
} from '../contract/evidence.ts';
import { READABLE } from '../contract/problem.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { readArchive } from './read-archive.ts';
import { readFolder } from './read-folder.ts';

export interface ReadOptions extends CollectOptions {
  readonly limits?: Partial<Limits> | undefined;
  /** Accept `./` names, digests in upper case, trailing bytes and a tar under a .tar.gz name; each is noted. */
  readonly lenient?: boolean | undefined;
}

/**
 * The evidence of one run from a folder, a .tar.gz or a .tar. Rejects only for defects of this program: whatever is
 * wrong with the input is in the evidence's problems.
 */
export async function readRun(path: string, options: ReadOptions = {}): Promise<Evidence> {
  const collector = collectEvidence(options);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const isLenient = options.lenient === true;
  try {
    const found = await stat(path);
    if (found.isDirectory()) return await readFolder({ path, limits, isLenient }, collector);
    if (!found.isFile()) return unusable(collector, path, 'neither a folder nor a file');
    const isGzip = await beginsLikeGzip(path);
    const wrong = nameContradiction(path, isGzip);
    if (wrong !== undefined && !isLenient) return unusable(collector, path, wrong);
    if (wrong !== undefined) collector.report(tolerated(path, wrong));
    return await readArchive({ path, size: found.size, isGzip, limits, isLenient }, collector);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    return unusable(collector, path, error.message);
  }
}

function nameContradiction(path: string, isGzip: boolean): string | undefined {
  if (/\.(tar\.gz|tgz)$/i.test(path) && !isGzip) return 'a file that is not gzip under a .tar.gz name';
  return /\.tar$/i.test(path) && isGzip ? 'a gzip file under a .tar name' : undefined;
}

async function beginsLikeGzip(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await file.close();
  }
}

function unusable(collector: EvidenceCollector, path: string, found: string): Evidence {
  const needed = 'a folder, a .tar.gz or a .tar with the files of one run';
  const about = {
    code: 'unreadable',
    effect: 'failed',
    file: 'archive',
    readable: READABLE.nothing,
  } as const;
  collector.report({ ...about, field: path, found, needed });
  return collector.finish(true);
}

function tolerated(path: string, found: string) {
  const about = { code: 'tolerated', effect: 'note', file: 'archive', readable: READABLE.all } as const;
  return { ...about, field: path, found, needed: 'a name that fits; accepted because of --lenient' };
}
