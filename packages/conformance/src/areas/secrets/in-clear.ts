import { createHash } from 'node:crypto';
import { isJsonObject, type Json } from '@weft/protocol';

/** A text of a megabyte or so; a document that is larger is looked at up to here. */
const MAX_LOOKS = 300_000;

/** Whether some part of a document's texts has this hash: so a secret is found that the suite does not know. */
export function holdsText(document: Json, sha256: string, length: number): boolean {
  let looks = 0;
  for (const text of textsIn(document)) {
    for (let at = 0; at + length <= text.length && looks < MAX_LOOKS; at += 1, looks += 1)
      if (hashOf(text.slice(at, at + length)) === sha256) return true;
  }
  return false;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Names of members count as well. */
function* textsIn(value: Json): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isJsonObject(value))
    for (const [name, member] of Object.entries(value)) {
      yield name;
      if (member !== undefined) yield* textsIn(member);
    }
}
