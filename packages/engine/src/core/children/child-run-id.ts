import { sha256Hex } from '../../crypto/hash.ts';

/** The id of a child run: a UUID (version 8) made from its parent's id and its place there, the same for whoever computes it. */
export function childRunId(parentRunId: string, nodeKey: string, numbers: readonly number[]): string {
  const hex = sha256Hex(`weft-child\n${parentRunId}\n${nodeKey}\n${numbers.join('.')}`);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
