import { gzipSync } from 'node:zlib';
import { nameProblem } from '@weft/evidence/archive';
import { PackError } from '../pack-error.ts';
import { MANIFEST_FILE, PACK_LIMITS } from './limits.ts';
import type { PackFiles } from './read-archive.ts';

const BLOCK = 512;
const OS_UNKNOWN = 255;

/**
 * A pack as one file. The same files give the same bytes, on one version of Node: order, modes, owners and times are fixed. How
 * well they are compressed is up to zlib, which changes between versions. Throws PackError.
 */
export function writePackArchive(files: PackFiles): Uint8Array {
  const names = [...files.keys()].sort(manifestFirst);
  const blocks = names.flatMap((name) => member(name, files.get(name) ?? new Uint8Array()));
  const tar = Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
  if (tar.length > PACK_LIMITS.inflated || names.length > PACK_LIMITS.files)
    throw new PackError(
      'tarball_too_large',
      `The pack has ${names.length} files and ${tar.length} bytes; ${PACK_LIMITS.files} and ${PACK_LIMITS.inflated} at most.`,
    );
  const archive = gzipSync(tar, { level: 9 });
  archive[9] = OS_UNKNOWN;
  if (archive.length > PACK_LIMITS.compressed)
    throw new PackError(
      'payload_too_large',
      `The archive has ${archive.length} bytes; ${PACK_LIMITS.compressed} at most.`,
    );
  return archive;
}

function manifestFirst(a: string, b: string): number {
  if (a === MANIFEST_FILE || b === MANIFEST_FILE) return a === b ? 0 : a === MANIFEST_FILE ? -1 : 1;
  return a < b ? -1 : 1;
}

function member(name: string, bytes: Uint8Array): Uint8Array[] {
  const limit = name === MANIFEST_FILE ? PACK_LIMITS.manifest : PACK_LIMITS.file;
  if (bytes.length > limit) {
    const code = name === MANIFEST_FILE ? 'tarball_manifest_too_large' : 'tarball_entry_too_large';
    throw new PackError(code, `${name} has ${bytes.length} bytes; ${limit} at most.`);
  }
  const padding = Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK);
  return [header(name, bytes.length), bytes, padding];
}

/** POSIX ustar. */
function header(name: string, size: number): Buffer {
  const [front, back] = split(name);
  const block = Buffer.alloc(BLOCK);
  block.write(back, 0);
  block.write('0000644\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\x0000', 257);
  block.write(front, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A name as the two fields of a header: at most 155 bytes, a slash, and 100. */
function split(name: string): readonly [string, string] {
  const problem = name.includes('\0') ? 'a NUL in it' : nameProblem(name);
  if (problem !== undefined)
    throw new PackError('tarball_path_traversal', `${JSON.stringify(name)} cannot be packed: ${problem}.`);
  if (Buffer.byteLength(name) <= 100) return ['', name];
  for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1)) {
    const [front, back] = [name.slice(0, at), name.slice(at + 1)];
    if (Buffer.byteLength(front) <= 155 && Buffer.byteLength(back) <= 100) return [front, back];
  }
  throw new PackError('tarball_tar_parse_failed', `${JSON.stringify(name)} is too long for a tar.`);
}
