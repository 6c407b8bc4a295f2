const MIB = 1024 * 1024;

/** Each is checked before memory is taken for what it limits. */
export const PACK_LIMITS = {
  /** Bytes of an archive as it is kept and sent. */
  compressed: 10 * MIB,
  inflated: 50 * MIB,
  file: 5 * MIB,
  manifest: 256 * 1024,
  files: 2_000,
} as const;

export const MANIFEST_FILE = 'pack.json';
