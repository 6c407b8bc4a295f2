import { ArchiveError } from './archive-error.ts';

export const BLOCK = 512;

export interface TarHeader {
  readonly name: string;
  readonly size: number;
  /** One character; NUL is given as '0', which means the same. */
  readonly type: string;
}

/** Reads one 512-byte header. Throws ArchiveError; `place` says where in the stream it stands. */
export function readTarHeader(block: Uint8Array, place: string): TarHeader {
  checkSum(block, place);
  const name = nameOf(block, place);
  const typeByte = block[156] as number;
  const type = typeByte === 0 ? '0' : String.fromCharCode(typeByte);
  return { name, type, size: sizeOf(block, name) };
}

export function isZeroBlock(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

function checkSum(block: Uint8Array, place: string): void {
  let sum = 0;
  for (let at = 0; at < BLOCK; at += 1) sum += at >= 148 && at < 156 ? 0x20 : (block[at] as number);
  const written = octal(block.subarray(148, 156));
  if (written !== sum)
    throw new ArchiveError('tar_checksum', place, 'a header whose checksum is wrong', 'an undamaged tar');
}

function nameOf(block: Uint8Array, place: string): string {
  const name = fieldText(block.subarray(0, 100), place);
  // Only POSIX headers keep the front of a long name here; GNU ones keep times in the same place.
  const isPosix = block[257 + 5] === 0 && fieldText(block.subarray(257, 262), place) === 'ustar';
  const front = isPosix ? fieldText(block.subarray(345, 500), place) : '';
  return front === '' ? name : `${front}/${name}`;
}

/** Text up to the first NUL. Anything behind the NUL could be read differently by another reader. */
function fieldText(field: Uint8Array, place: string): string {
  const end = field.indexOf(0);
  if (end !== -1 && field.subarray(end).some((byte) => byte !== 0))
    throw new ArchiveError(
      'tar_name',
      place,
      'a name with a NUL inside',
      'names that every reader reads the same',
    );
  return decodeName(end === -1 ? field : field.subarray(0, end), place);
}

export function decodeName(bytes: Uint8Array, place: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ArchiveError('tar_name', place, 'a name that is not UTF-8', 'names in UTF-8');
  }
}

function sizeOf(block: Uint8Array, name: string): number {
  const field = block.subarray(124, 136);
  const isBinary = ((field[0] as number) & 0x80) !== 0;
  const size = isBinary ? binary(field) : octal(field);
  if (size === undefined)
    throw new ArchiveError('tar_size', name, 'a size that is no number', 'the size in octal digits');
  return size;
}

/** GNU's way to write sizes beyond 8 GiB. They are read only to be refused by the limit. */
function binary(field: Uint8Array): number {
  let value = (field[0] as number) & 0x7f;
  for (const byte of field.subarray(1)) value = value * 256 + byte;
  return value;
}

function octal(field: Uint8Array): number | undefined {
  const text = String.fromCharCode(...field);
  const digits = /^ *([0-7]+)[ \0]*$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 8);
}
