import { createHash } from 'node:crypto';

/** Hashing is the one thing the pure core takes from the platform: same bytes in, same bytes out. */
export function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text, 'utf8').digest();
}

export function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** Over the parts one after another. */
export function sha256Bytes(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
