import { copyFile, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveHere, weft } from '../testing/served.ts';

const EXAMPLES = new URL('../../../../examples/workflows/', import.meta.url).pathname;

let cwd: string;
let database: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'weft-doctor-'));
  database = join(cwd, '.weft', 'weft.db');
});

afterEach(async () => {
  await rm(cwd, { recursive: true, force: true });
});

/** A folder that a host has used and left in order. */
async function used(): Promise<void> {
  const host = await serveHere(cwd, ['--workflows', EXAMPLES]);
  await host.stop();
}

/** In the header of an SQLite file. */
async function writeHeader(offset: number, value: number): Promise<void> {
  const file = await open(database, 'r+');
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  await file.write(bytes, 0, 4, offset);
  await file.close();
}

const USER_VERSION = 60;
const APPLICATION_ID = 68;

describe('doctor', () => {
  it.each<[string, () => Promise<void>, string]>([
    ['of a newer program', () => writeHeader(USER_VERSION, 99), 'has schema version 99'],
    ['of another program', () => writeHeader(APPLICATION_ID, 7), 'of another program'],
    ['that is gone', () => rm(database), 'is missing or empty'],
    [
      'of an earlier moment',
      async () => {
        await copyFile(database, join(cwd, 'earlier.db'));
        await used();
        const host = await serveHere(cwd);
        await weft(cwd, ['run', 'batch-totals', '--watch']);
        await host.stop();
        await copyFile(join(cwd, 'earlier.db'), database);
      },
      'acknowledged',
    ],
  ])('fails for a database %s, as serve does', async (_, harm, reason) => {
    await used();
    await harm();

    const doctor = await weft(cwd, ['doctor']);
    const serve = await weft(cwd, ['serve', '--port', '0']);

    expect(serve).toMatchObject({ code: 3, err: expect.stringContaining(reason) });
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(/wrong +database: .*/);
    expect(doctor.out).toContain(reason);
  });

  it('finds a database in order while a host writes to it', async () => {
    const host = await serveHere(cwd, ['--workflows', EXAMPLES]);
    await weft(cwd, ['run', 'batch-totals', '--watch']);

    const doctor = await weft(cwd, ['doctor']);
    await host.stop();

    expect(doctor).toMatchObject({ code: 0, out: expect.stringMatching(/ok +database: /) });
  });
});
