import { createHash, timingSafeEqual } from 'node:crypto';

/** The content id of an archive: `sha256-` and the digest in base64. */
export function integrityOf(archive: Uint8Array): string {
  return `sha256-${createHash('sha256').update(archive).digest('base64')}`;
}

export const INTEGRITY_PATTERN = '^sha256-[A-Za-z0-9+/]{43}=$';

export function hasIntegrity(archive: Uint8Array, integrity: string): boolean {
  const [found, wanted] = [Buffer.from(integrityOf(archive)), Buffer.from(integrity)];
  return found.length === wanted.length && timingSafeEqual(found, wanted);
}
