import { existsSync, readFileSync, statSync } from 'node:fs';

/** Pages of a SQLite file as its next reader will see them: what stands only in the write-ahead log counts, too. */
export function sqlitePages(path: string): number {
  const wal = `${path}-wal`;
  const inFile = Math.ceil(statSync(path).size / PAGE_BYTES);
  return Math.max(inFile, existsSync(wal) ? pagesByLog(readFileSync(wal)) : 0);
}

const PAGE_BYTES = 4_096;
const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + PAGE_BYTES;
/** In the header, and in each frame that belongs to it. */
const SALT = { inHeader: 16, inFrame: 8, bytes: 8 };

/** The last commit says how large the database is after it; frames with another salt are left over from before a reset. */
function pagesByLog(log: Buffer): number {
  const saltOf = (from: number): string => log.subarray(from, from + SALT.bytes).toString('hex');
  let pages = 0;
  for (let at = HEADER_BYTES; at + FRAME_BYTES <= log.length; at += FRAME_BYTES) {
    if (saltOf(at + SALT.inFrame) !== saltOf(SALT.inHeader)) break;
    pages = log.readUInt32BE(at + 4) || pages;
  }
  return pages;
}
