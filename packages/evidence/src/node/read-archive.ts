import { createReadStream } from 'node:fs';
import { createHash } from 'node:crypto';
import { type FileFacts, type Manifest, checkManifest, manifestSink } from '../artifacts/manifest.ts';
import type { Evidence, EvidenceCollector } from '../contract/evidence.ts';
import { READABLE } from '../contract/problem.ts';
import { MANIFEST_FILE } from '../contract/vocabulary.ts';
import { ArchiveError } from './archive/archive-error.ts';
import { gunzipFile } from './archive/gunzip.ts';
import { type MemberSink, type TarReader, tarReader, trailing } from './archive/tar-reader.ts';
import { fileLimit, type Limits } from './limits.ts';

export interface ArchiveOptions {
  readonly path: string;
  readonly size: number;
  readonly isGzip: boolean;
  readonly limits: Limits;
  readonly isLenient: boolean;
}

const CHUNK = 256 * 1024;

/** One pass over the archive, in memory that does not grow with it. */
export async function readArchive(options: ArchiveOptions, collector: EvidenceCollector): Promise<Evidence> {
  const read = new Map<string, FileFacts>();
  let manifest: Manifest | undefined;
  const takeManifest = (found: Manifest): void => {
    manifest = found;
  };
  const { limits, isLenient } = options;
  const rules = {
    inflated: limits.inflated,
    members: limits.members,
    file: (name: string) => fileLimit(limits, name),
    manifest: MANIFEST_FILE,
    isLenient,
  };
  const reader = tarReader(rules, {
    member(name, size) {
      const sink =
        name === MANIFEST_FILE
          ? manifestSink(isLenient, collector.report, takeManifest)
          : collector.open(name, size);
      return hashed(sink, (facts) => read.set(name, facts));
    },
    tolerated: (place, found) => collector.report(tolerated(place, found)),
  });
  try {
    await pump(options, reader, collector);
  } catch (error) {
    collector.report(refusal(error, options.path));
    return collector.finish(true);
  }
  if (!read.has(MANIFEST_FILE)) collector.report(noManifest());
  const evidence = collector.finish();
  if (manifest !== undefined) checkManifest(manifest, read, evidence.health?.runId, true, collector.report);
  return evidence;
}

/** Passes bytes on and knows, at the end, how many there were and their digest. */
export function hashed(sink: MemberSink | undefined, done: (facts: FileFacts) => void): MemberSink {
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    write(chunk) {
      bytes += chunk.length;
      hash.update(chunk);
      sink?.write(chunk);
    },
    end() {
      sink?.end();
      done({ bytes, digest: hash.digest('hex') });
    },
  };
}

async function pump(options: ArchiveOptions, reader: TarReader, collector: EvidenceCollector): Promise<void> {
  const { limits, path } = options;
  const limit = options.isGzip ? limits.compressed : limits.inflated;
  if (options.size > limit)
    throw new ArchiveError('limit', path, `${options.size} bytes`, `${limit} at most`);
  if (options.isGzip) await inflate(options, reader, collector);
  else {
    // A file that grows while it is read must not get past the limit that its size was held against.
    const file = createReadStream(path, { highWaterMark: CHUNK, end: limit });
    for await (const chunk of file) reader.write(chunk as Uint8Array);
  }
  reader.end();
}

async function inflate(
  options: ArchiveOptions,
  reader: TarReader,
  collector: EvidenceCollector,
): Promise<void> {
  const { path, size, limits } = options;
  let inflated = 0;
  for await (const chunk of gunzipFile(path, size, behindEnd)) {
    inflated += chunk.length;
    if (inflated > limits.inflated)
      throw new ArchiveError('limit', path, `more than ${limits.inflated} bytes once inflated`, 'less');
    reader.write(chunk);
  }

  function behindEnd(at: number): void {
    if (!options.isLenient) throw trailing(`byte ${at} of the file`);
    collector.report(tolerated('the archive', 'bytes behind the end of the gzip stream'));
  }
}

function refusal(error: unknown, path: string) {
  const about = { effect: 'failed', readable: 'Nothing: the archive is not what the runner wrote.' } as const;
  if (error instanceof ArchiveError)
    return {
      ...about,
      code: error.code,
      file: 'archive',
      field: error.place,
      found: error.message,
      needed: error.needed,
    };
  const message = error instanceof Error ? error.message : String(error);
  return {
    ...about,
    code: 'archive_damaged',
    file: 'archive',
    field: path,
    found: message,
    needed: 'an undamaged archive',
  };
}

function tolerated(place: string, found: string) {
  const needed = 'none; accepted because of --lenient';
  const about = { code: 'tolerated', effect: 'note', file: 'archive', readable: READABLE.all } as const;
  return { ...about, field: place, found, needed };
}

function noManifest() {
  const about = { code: 'no_manifest', effect: 'failed', file: MANIFEST_FILE, field: '' } as const;
  return {
    ...about,
    found: 'no such member',
    needed: 'the manifest: without it nothing is verified',
    readable: READABLE.nothing,
  };
}
