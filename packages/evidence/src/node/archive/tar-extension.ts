import { ArchiveError } from './archive-error.ts';
import { decodeName } from './tar-header.ts';

/** PAX records that change what a member is or how large it is. A name is all that an extension may bring. */
const REFUSED = /^(size|linkpath|hdrcharset|GNU\.sparse\..*)$/;

/** The name that a GNU `L` or PAX `x` record gives the next member; undefined when it gives none. */
export function readExtendedName(type: string, bytes: Uint8Array, place: string): string | undefined {
  if (type === 'L') {
    const end = bytes.indexOf(0);
    if (end !== -1 && bytes.subarray(end).some((byte) => byte !== 0))
      throw new ArchiveError(
        'tar_name',
        place,
        'a name with a NUL inside',
        'names that every reader reads the same',
      );
    return decodeName(end === -1 ? bytes : bytes.subarray(0, end), place);
  }
  return paxPath(bytes, place);
}

/** Records are `length key=value\n`, and the length counts itself. */
function paxPath(bytes: Uint8Array, place: string): string | undefined {
  let path: string | undefined;
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const lengthText =
      space === -1 ? '' : String.fromCharCode(...bytes.subarray(at, Math.min(space, at + 8)));
    const length = /^[1-9]\d*$/.test(lengthText) ? Number(lengthText) : 0;
    if (length === 0 || at + length > bytes.length || bytes[at + length - 1] !== 0x0a)
      throw new ArchiveError(
        'tar_extension',
        place,
        'a PAX record that cannot be read',
        'length, key and value',
      );
    const record = decodeName(bytes.subarray(space + 1, at + length - 1), place);
    const equals = record.indexOf('=');
    const key = record.slice(0, equals);
    if (equals < 1 || REFUSED.test(key))
      throw new ArchiveError('tar_extension', place, `the PAX record ${JSON.stringify(key)}`, 'names only');
    if (key === 'path') {
      path = record.slice(equals + 1);
      if (path.includes('\0'))
        throw new ArchiveError('tar_name', place, 'a name with a NUL inside', 'no NUL');
    }
    at += length;
  }
  return path;
}
