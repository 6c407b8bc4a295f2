import { sha256Hex } from '../../crypto/hash.ts';

/** The id of an imported run: a UUID (version 8) made from its tenant and the bundle, so that the same bundle is imported once. */
export function importRunId(tenant: string, bundleDigest: string): string {
  const hex = sha256Hex(`weft-import\n${tenant}\n${bundleDigest}`);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
