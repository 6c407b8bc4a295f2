import type { Json } from '@weft/protocol';

/**
 * Roughly the bytes of a value as JSON, found without making the text. Stops where `limit` is passed, so that a value that is
 * held a thousand times, small in memory and large when it is written down, costs no more than one that is not.
 */
export function jsonSize(value: Json, limit: number): number {
  const open: Json[] = [value];
  let size = 0;
  while (open.length > 0 && size <= limit) {
    const next = open.pop() as Json;
    if (typeof next === 'string') size += next.length + 2;
    else if (typeof next !== 'object' || next === null) size += 4;
    else if (Array.isArray(next)) {
      size += 2 + next.length;
      for (const item of next) open.push(item);
    } else {
      size += 2;
      for (const [name, member] of Object.entries(next)) {
        size += name.length + 4;
        open.push(member);
      }
    }
  }
  return size;
}
