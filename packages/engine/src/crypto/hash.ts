import { createHash, hash } from 'node:crypto';

/**
 * With Ed25519 (`ed25519.ts`) and `Buffer`, hashing is all that the core takes from the platform: same bytes in, same bytes out. A text is hashed in one call,
 * without a Hash object: the garbage collector keeps those, and all they hold, longer than anything else that a step makes.
 */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

export function sha256Base64Url(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** Over the parts one after another. */
export function sha256Bytes(...parts: readonly Uint8Array[]): Buffer {
  const parted = createHash('sha256');
  for (const part of parts) parted.update(part);
  return parted.digest();
}

export interface Sha256 {
  add(text: string): void;
  hex(): string;
}

/** For a text too long to be hashed in one go. */
export function createSha256(): Sha256 {
  const hash = createHash('sha256');
  return {
    add: (text) => void hash.update(text, 'utf8'),
    hex: () => hash.digest('hex'),
  };
}

/** A UUID (version 8) made from a text; with a time it begins like one that was made then, so that such ids sort by it. */
export function derivedUuid(text: string, at?: number): string {
  const hex = sha256Hex(text);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const head =
    at === undefined ? hex.slice(0, 12) : Math.max(at, 0).toString(16).padStart(12, '0').slice(-12);
  return [
    head.slice(0, 8),
    head.slice(8),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
