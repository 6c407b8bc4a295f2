import { isJsonObject, type Json } from '@weft/protocol';
import { MASK } from '../redaction/scan/marks.ts';

const HASH_MARK = /^sha256:[0-9a-f]{64}$/;

export interface PointerOptions {
  /** Where the value stands in the document. */
  readonly base: string;
  /** In `hash` mode a value that is nothing but a digest is a mark, too. */
  readonly hashes: boolean;
  /** Names of members may hold secrets themselves; a pointer must not tell them. */
  readonly shownName: (name: string) => string;
}

/** JSON Pointers (RFC 6901) of everything in `after` that is a mark, was changed, or is no longer there. */
export function maskedPointers(before: Json, after: Json, options: PointerOptions): string[] {
  const found: string[] = [];
  const compare = (old: Json, now: Json, at: string): void => {
    if (Array.isArray(now) && Array.isArray(old) && old.length === now.length) {
      now.forEach((item, index) => compare(old[index] ?? null, item, `${at}/${index}`));
    } else if (isJsonObject(now) && isJsonObject(old)) {
      compareObjects(old, now, at);
    } else if (isMark(now, options.hashes) || old !== now) {
      found.push(at);
    }
  };
  const compareObjects = (old: { [name: string]: Json }, now: { [name: string]: Json }, at: string): void => {
    for (const [name, value] of Object.entries(now)) {
      // A member that is new stands where a name was masked.
      if (Object.hasOwn(old, name)) compare(old[name] ?? null, value, `${at}/${escaped(name)}`);
    }
    for (const name of Object.keys(old)) {
      if (!Object.hasOwn(now, name)) found.push(`${at}/${escaped(options.shownName(name))}`);
    }
  };
  compare(before, after, options.base);
  return found;
}

function isMark(value: Json, hashes: boolean): boolean {
  if (typeof value !== 'string') return false;
  return value.includes(MASK) || (hashes && HASH_MARK.test(value));
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
