import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { OpenBackup } from '@weft/engine';
import { copyDatabase, openDatabase } from './driver.ts';

const PIECE_BYTES = 256 * 1024;
const SUFFIX = '.backup-';

/**
 * A copy of the file as it is now, made through a second connection that reads one moment of it while the owner continues to write.
 * The copy is created next to the file and unlinked once it is open, so it goes with its reader, also when that one is
 * killed.
 */
export async function openBackup(path: string): Promise<OpenBackup> {
  const copy = `${path}${SUFFIX}${randomBytes(8).toString('hex')}`;
  try {
    await writeCopy(path, copy);
    const handle = await open(copy, 'r');
    const { size } = await handle.stat();
    return {
      size,
      async *read() {
        for (let position = 0; position < size; ) {
          const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - position));
          const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
          if (bytesRead === 0) throw new Error('The copy became shorter while it was read.');
          yield buffer.subarray(0, bytesRead);
          position += bytesRead;
        }
      },
      close: () => handle.close(),
    };
  } finally {
    await removeCopy(copy);
  }
}

async function writeCopy(path: string, copy: string): Promise<void> {
  // Created first, so that no other user can read it from its first byte on.
  await (await open(copy, 'wx', 0o600)).close();
  await copyDatabase(path, copy);
  // One file that needs no others next to it, also where only reading is allowed.
  const copied = openDatabase(copy, { busyTimeoutMs: 0 });
  try {
    copied.exec('PRAGMA journal_mode = DELETE');
  } finally {
    copied.close();
  }
}

/** Takes away what a killed owner left half written. */
export function removeStaleCopies(path: string): void {
  const [folder, prefix] = [dirname(path), `${basename(path)}${SUFFIX}`];
  for (const name of readdirSync(folder)) {
    if (name.startsWith(prefix)) rmSync(join(folder, name), { force: true });
  }
}

async function removeCopy(copy: string): Promise<void> {
  await Promise.all(['', '-journal', '-wal', '-shm'].map((end) => rm(`${copy}${end}`, { force: true })));
}
