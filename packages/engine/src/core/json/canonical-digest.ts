import { canonicalParts, type Json } from '@weft/protocol';
import { createSha256 } from '../../crypto/hash.ts';
import type { CooperativeTask } from './cooperative-task.ts';

/** SHA-256 of a value's canonical JSON, hexadecimal, which takes long for a large value; `levels` as in `canonicalParts`. */
export function* canonicalDigest(value: Json, levels?: number): CooperativeTask<string> {
  const hash = createSha256();
  for (const part of canonicalParts(value, levels)) {
    hash.add(part);
    yield;
  }
  return hash.hex();
}
