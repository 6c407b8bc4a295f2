import { cp, mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Served, serveHere, weft } from '../testing/served.ts';

const EXAMPLES = new URL('../../../../examples/workflows/', import.meta.url).pathname;

let folder: string;
let data: string;
let host: Served | undefined;

/** The data folder as a killed host leaves it: the last commits stand in the write-ahead log. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-data-loss-'));
  data = join(folder, '.weft');
  await (await serveHere(folder)).stop();
  const killed = await serveHere(folder, ['--workflows', EXAMPLES]);
  const left = join(folder, 'left');
  await cp(data, left, { recursive: true });
  await killed.stop();
  await rm(data, { recursive: true });
  await cp(left, data, { recursive: true });
});

afterEach(async () => {
  await host?.stop();
  host = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function remove(...ends: string[]): Promise<void> {
  for (const end of ends) await rm(join(data, `weft.db${end}`), { force: true });
}

/** What the audit log says of accepted losses. */
async function accepted(): Promise<unknown[]> {
  host = await serveHere(folder);
  const { out } = await weft(folder, ['audit', 'export', '-o', '-']);
  return out
    .split('\n')
    .filter((line) => line.includes('store.accept_loss'))
    .map((line) => JSON.parse(line));
}

describe('a host whose write-ahead log is missing', () => {
  beforeEach(() => remove('-wal', '-shm'));

  it('does not start, and says what is missing and what can be done', async () => {
    const refused = await weft(folder, ['serve', '--port', '0']);

    expect(refused.code).toBe(3);
    expect(refused.err).toMatch(/weft\.db lacks the last \d+ commits that were acknowledged/);
    expect(refused.err).toContain('weft restore FILE --data DIR');
    expect(refused.err).toContain('weft serve --accept-data-loss');
    expect((await weft(folder, ['doctor', '--deep'])).out).toMatch(/wrong +database, deep: .*lacks the last/);
  });

  it('starts when the loss is accepted, and the audit log keeps that', async () => {
    await (await serveHere(folder, ['--accept-data-loss'])).stop();

    expect(await accepted()).toHaveLength(1);
  });

  it('has accepted nothing that is not on record when the start fails for another reason', async () => {
    const failed = await weft(folder, ['serve', '--port', '0', '--accept-data-loss', '--conformance']);

    expect(failed).toMatchObject({ code: 4, err: expect.stringContaining('is a live folder') });
    expect(await accepted()).toHaveLength(1);
  });
});

describe('a host in whose folder no database is any more', () => {
  it.each([
    ['the database', () => remove('')],
    ['everything of it', () => remove('', '-wal', '-shm', '.mark', '.lock', '.owner')],
    ['what is in it', () => truncate(join(data, 'weft.db'))],
  ])('does not make a new one, where %s is missing', async (_what, harm) => {
    await harm();

    const refused = await weft(folder, ['serve', '--port', '0']);

    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('is missing or empty') });
    await (await serveHere(folder, ['--accept-data-loss'])).stop();
    expect(await accepted()).toHaveLength(1);
  });
});
