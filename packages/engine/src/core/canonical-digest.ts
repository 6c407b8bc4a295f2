import { canonicalParts, type Json } from '@weft/protocol';
import { createSha256 } from '../hash.ts';
import type { Steps } from './steps.ts';

/** SHA-256 of a value's canonical JSON, hexadecimal. Both take long for a large value. */
export function* canonicalDigest(value: Json): Steps<string> {
  const hash = createSha256();
  for (const part of canonicalParts(value)) {
    hash.add(part);
    yield;
  }
  return hash.hex();
}
