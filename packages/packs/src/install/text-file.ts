import type { PackFiles } from '../archive/read-archive.ts';
import { type PackCode, PackError } from '../pack-error.ts';

/** The text in a file of the pack that its manifest names. Throws PackError with the given code. */
export function textAt(ref: string, place: string, files: PackFiles, code: PackCode): string {
  const bytes = files.get(ref);
  // Names in an archive never lead out of it, so that a path which does names nothing.
  if (bytes === undefined)
    throw new PackError(code, `${place} names ${JSON.stringify(ref)}, which is not in the pack.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new PackError(code, `${place}: ${ref} is not UTF-8.`, { cause });
  }
}
