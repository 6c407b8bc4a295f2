import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';

/**
 * How far the database had come when a write was last acknowledged as durable, kept in a file of its own. SQLite recovers
 * silently from a write-ahead log that is missing or damaged: to the last commit that it still finds. Only something outside of
 * the database shows that there were more.
 *
 * S-12. Every commit raises the number in the database, in its own transaction.
 * S-13. The mark is written after COMMIT has returned and before the caller learns of it. So after a killed process the
 *       database is at the mark or one commit ahead of it, never behind. The mark reaches the disk right after, in parallel
 *       with what comes next, so that the same holds after a power failure.
 * S-14. Two places are written alternately, each with a checksum: a torn write of one leaves the other.
 */
export interface HighWaterMark {
  readonly found: FoundMark;
  write(progress: Progress): void;
  /** Forgets what was found: the mark is where the database is. */
  reset(progress: Progress): void;
  close(): Promise<void>;
}

/** Which commit a database has come to. */
export interface Progress {
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** 16 random bytes that name the commit: two databases that were continued from one backup differ in them. */
  readonly batch: Uint8Array;
}

/** What a file says of the last commit: nothing yet, something that cannot be read, or which one it was. */
export type FoundMark = Progress | 'none' | 'unreadable';

/** Apart by what disks write in one piece. */
const PLACES = [0, 4_096];
const MAGIC = 0x57454654; // 'WEFT'
const RECORD_BYTES = 40;

export function markPath(database: string): string {
  return `${database}.mark`;
}

export function openHighWaterMark(database: string): HighWaterMark {
  const file = openOrCreate(markPath(database));
  const found = newest(file);
  const record = Buffer.alloc(RECORD_BYTES);
  let isSyncing = false;
  let isDirty = false;
  let onIdle: (() => void) | undefined;

  function writeAt(position: number, progress: Progress): void {
    encode(record, progress);
    writeSync(file, record, 0, RECORD_BYTES, position);
  }

  function sync(): void {
    isDirty = true;
    if (isSyncing) return;
    isSyncing = true;
    isDirty = false;
    fdatasync(file, () => {
      isSyncing = false;
      if (onIdle !== undefined) onIdle();
      else if (isDirty) sync();
    });
  }

  return {
    found,
    write(progress) {
      writeAt(PLACES[progress.number % 2] ?? 0, progress);
      sync();
    },
    reset(progress) {
      for (const position of PLACES) writeAt(position, progress);
      fdatasyncSync(file);
    },
    async close() {
      if (isSyncing) await new Promise<void>((resolve) => (onIdle = resolve));
      fdatasyncSync(file);
      closeSync(file);
    },
  };
}

/** What the file says, for readers that write nothing. */
export function readHighWaterMark(database: string): FoundMark {
  let file: number;
  try {
    file = openSync(markPath(database), 'r');
  } catch (error) {
    if (isMissing(error)) return 'none';
    throw error;
  }
  try {
    return newest(file);
  } finally {
    closeSync(file);
  }
}

function openOrCreate(path: string): number {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const file = openSync(path, 'w+', 0o600);
  // Written to its full length now: later writes change no size, so that syncing them costs no more than their bytes.
  writeSync(file, Buffer.alloc((PLACES.at(-1) ?? 0) + RECORD_BYTES));
  fsyncSync(file);
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
  return file;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function newest(file: number): FoundMark {
  const places = PLACES.map((position) => {
    const bytes = Buffer.alloc(RECORD_BYTES);
    readSync(file, bytes, 0, RECORD_BYTES, position);
    return bytes;
  });
  const readable = places.flatMap((bytes) => decode(bytes) ?? []);
  const [first] = readable.sort((a, b) => b.number - a.number);
  // Created and never written: there was no commit yet.
  return first ?? (places.every(isBlank) ? 'none' : 'unreadable');
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

function encode(bytes: Buffer, { number, at, batch }: Progress): void {
  bytes.writeUInt32BE(MAGIC, 0);
  bytes.writeUIntBE(number, 4, 6);
  bytes.writeUIntBE(at, 10, 6);
  bytes.fill(0, 16, 36);
  bytes.set(batch.subarray(0, 16), 16);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 36)), 36);
}

function decode(bytes: Buffer): Progress | undefined {
  if (bytes.readUInt32BE(0) !== MAGIC || bytes.readUInt32BE(36) !== crc32(bytes.subarray(0, 36)))
    return undefined;
  return {
    number: bytes.readUIntBE(4, 6),
    at: bytes.readUIntBE(10, 6),
    batch: Uint8Array.from(bytes.subarray(16, 32)),
  };
}
