import { CORRELATION_FILE, HEALTH_FILE, MANIFEST_FILE, SURFACE_FILE } from '../contract/vocabulary.ts';

const MIB = 1024 * 1024;

/** Every limit is checked before memory is taken for what it limits. */
export interface Limits {
  /** Bytes of a compressed archive. */
  readonly compressed: number;
  /** Bytes of everything that comes out of it, and of a folder's files together. */
  readonly inflated: number;
  /** Bytes of one file. */
  readonly file: number;
  readonly members: number;
}

export const DEFAULT_LIMITS: Limits = {
  compressed: 100 * MIB,
  inflated: 1024 * MIB,
  file: 1024 * MIB,
  members: 10_000,
};

/** Files that are held as values, not streamed, get less. A surface must fit 32-bit offsets, prefix rule included. */
const HELD: ReadonlyMap<string, number> = new Map([
  [HEALTH_FILE, 16 * MIB],
  [MANIFEST_FILE, 16 * MIB],
  [CORRELATION_FILE, 128 * MIB],
  [SURFACE_FILE, 2048 * MIB],
]);

export function fileLimit(limits: Limits, name: string): number {
  return Math.min(limits.file, HELD.get(name) ?? Number.POSITIVE_INFINITY);
}
