import { ArchiveError, gunzipBytes, type MemberSink, tarReader, trailing } from '@weft/evidence/archive';
import { type PackCode, PackError } from '../pack-error.ts';
import { MANIFEST_FILE, PACK_LIMITS } from './limits.ts';

/** The files of a pack by their names. */
export type PackFiles = ReadonlyMap<string, Uint8Array>;

/** Reads an archive from anyone. Nothing is written anywhere; what is not exactly a pack is refused as a whole. Throws PackError. */
export async function readPackArchive(archive: Uint8Array): Promise<PackFiles> {
  if (archive.length > PACK_LIMITS.compressed)
    throw new PackError(
      'payload_too_large',
      `The archive has ${archive.length} bytes; ${PACK_LIMITS.compressed} at most.`,
    );
  const files = new Map<string, Uint8Array>();
  try {
    await inflate(archive, files);
  } catch (error) {
    throw refusal(error);
  }
  if (!files.has(MANIFEST_FILE))
    throw new PackError('tarball_manifest_missing', `The archive has no ${MANIFEST_FILE} at its root.`);
  return files;
}

async function inflate(archive: Uint8Array, files: Map<string, Uint8Array>): Promise<void> {
  const rules = {
    inflated: PACK_LIMITS.inflated,
    members: PACK_LIMITS.files,
    // Held below, where the codes are known.
    file: () => Number.POSITIVE_INFINITY,
    manifest: MANIFEST_FILE,
    isLenient: false,
  };
  const reader = tarReader(rules, {
    member: (name, size) => collect(name, size, files),
    tolerated: () => undefined,
  });
  let inflated = 0;
  const behindEnd = (at: number) => {
    throw trailing(`byte ${at} of the file`);
  };
  for await (const chunk of gunzipBytes(archive, behindEnd)) {
    inflated += chunk.length;
    if (inflated > PACK_LIMITS.inflated)
      throw new PackError('tarball_too_large', `It inflates to more than ${PACK_LIMITS.inflated} bytes.`);
    reader.write(chunk);
  }
  reader.end();
}

function collect(name: string, size: number, files: Map<string, Uint8Array>): MemberSink {
  const [limit, code] =
    name === MANIFEST_FILE
      ? ([PACK_LIMITS.manifest, 'tarball_manifest_too_large'] as const)
      : ([PACK_LIMITS.file, 'tarball_entry_too_large'] as const);
  if (size > limit) throw new PackError(code, `${JSON.stringify(name)} has ${size} bytes; ${limit} at most.`);
  const bytes = new Uint8Array(size);
  let filled = 0;
  return {
    write(chunk) {
      bytes.set(chunk, filled);
      filled += chunk.length;
    },
    end: () => void files.set(name, bytes),
  };
}

const CODES: Readonly<Record<string, PackCode>> = {
  gzip_damaged: 'tarball_gunzip_failed',
  limit: 'tarball_too_large',
  member_name: 'tarball_path_traversal',
};

function refusal(error: unknown): PackError {
  if (error instanceof PackError) return error;
  if (error instanceof ArchiveError) {
    const { code, place, message, needed } = error;
    const text = `The archive is refused at ${place}: ${message}; needed: ${needed.replace(/ \(--lenient.*\)$/, '')}.`;
    return new PackError(CODES[code] ?? 'tarball_tar_parse_failed', text, { cause: error });
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new PackError('tarball_gunzip_failed', `The archive cannot be inflated: ${reason}.`, {
    cause: error,
  });
}
