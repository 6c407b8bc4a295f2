import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileFacts, type Manifest, checkManifest, manifestSink } from '../artifacts/manifest.ts';
import type { Evidence, EvidenceCollector } from '../contract/evidence.ts';
import { type Problem, READABLE } from '../contract/problem.ts';
import {
  CORRELATION_FILE,
  EVENTS_FILE,
  HEALTH_FILE,
  MANIFEST_FILE,
  SDK_FILE,
  SURFACE_FILE,
} from '../contract/vocabulary.ts';
import { fileLimit, type Limits } from './limits.ts';
import { nameProblem } from './archive/member-name.ts';
import { hashed } from './read-archive.ts';
import type { MemberSink } from './archive/tar-reader.ts';

export interface FolderOptions {
  readonly path: string;
  readonly limits: Limits;
  readonly isLenient: boolean;
}

const CHUNK = 1024 * 1024;
/** The first line of the event log is all that is looked at. */
const HINT_BYTES = 64 * 1024;
const FILES = [HEALTH_FILE, SURFACE_FILE, CORRELATION_FILE, SDK_FILE, EVENTS_FILE];

/**
 * A folder is its owner's: files may be links, and others may lie next to them. A manifest is held against the files
 * when there is one; what it finds is reported, and the diff is made all the same.
 */
export async function readFolder(options: FolderOptions, collector: EvidenceCollector): Promise<Evidence> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK);
  const budget = { left: options.limits.inflated };
  const note = (problem: Problem): void => collector.report({ ...problem, effect: 'note' });
  let manifest: Manifest | undefined;
  const takeManifest = (found: Manifest): void => {
    manifest = found;
  };
  await stream(MANIFEST_FILE, () => manifestSink(options.isLenient, note, takeManifest));
  const read = new Map<string, FileFacts>();
  for (const name of wanted(manifest)) {
    const isVerified = manifest?.files.has(name) === true;
    await stream(
      name,
      (size) => {
        const sink = collector.open(name, size);
        return isVerified
          ? hashed(sink, (facts) => read.set(name, facts))
          : (sink ?? hashed(undefined, () => undefined));
      },
      !isVerified && name === EVENTS_FILE ? HINT_BYTES : undefined,
    );
  }
  const evidence = collector.finish();
  if (manifest !== undefined) checkManifest(manifest, read, evidence.health?.runId, false, note);
  return evidence;

  /** A file that is not there is left to the collector; one that cannot be read is reported here. */
  async function stream(name: string, openSink: (size: number) => MemberSink, only?: number): Promise<void> {
    let file: FileHandle | undefined;
    try {
      file = await open(join(options.path, name), 'r');
      const stat = await file.stat();
      if (!stat.isFile()) return collector.report(unreadable(name, 'something that is not a regular file'));
      const limit = Math.min(fileLimit(options.limits, name), budget.left);
      const size = Math.min(stat.size, only ?? stat.size);
      if (size > limit)
        return collector.report(unreadable(name, `${size} bytes, more than the limit of ${limit}`));
      const copied = await copy(file, openSink(size), limit, only);
      if (copied === undefined) collector.report(unreadable(name, `more than the limit of ${limit} bytes`));
      else budget.left -= copied;
    } catch (error) {
      if (isCode(error, 'ENOENT')) return;
      if (!isSystemError(error)) throw error;
      collector.report(unreadable(name, error.message));
    } finally {
      await file?.close();
    }
  }

  /** `only`: stop there and be content; otherwise a file that grew beyond its limit is reported. */
  async function copy(
    file: FileHandle,
    sink: MemberSink,
    limit: number,
    only: number | undefined,
  ): Promise<number | undefined> {
    let total = 0;
    const most = only ?? limit + 1;
    while (total < most) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK, most - total), total);
      if (bytesRead === 0) break;
      total += bytesRead;
      if (only === undefined && total > limit) return undefined;
      sink.write(buffer.subarray(0, bytesRead));
    }
    sink.end();
    return total;
  }
}

function wanted(manifest: Manifest | undefined): string[] {
  const listed = [...(manifest?.files.keys() ?? [])].filter((name) => nameProblem(name) === undefined);
  return [...new Set([...FILES, ...listed])].filter((name) => name !== MANIFEST_FILE);
}

function unreadable(file: string, found: string): Problem {
  const needed = 'a readable file';
  const only = file === SDK_FILE ? { only: 'cross' as const } : {};
  return {
    code: 'unreadable',
    effect: 'failed',
    file,
    field: '',
    found,
    needed,
    readable: READABLE.nothing,
    ...only,
  };
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

function isCode(error: unknown, code: string): boolean {
  return isSystemError(error) && error.code === code;
}
