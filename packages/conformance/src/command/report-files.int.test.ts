import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../testing/run-command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-reports-'));
  await writeFile(join(folder, 'file'), '');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (...files: string[]) =>
  runCommand({
    offline: true,
    only: 'wire-shape/create-run-schema',
    reports: files.map((file) => join(folder, file)),
  });

describe('a report', () => {
  it.each([
    ['whose folder does not exist', 'no/such/suite.json', 'its folder does not exist'],
    ['whose folder is a file', 'file/suite.json', 'its folder is a file'],
  ])('%s is refused before anything runs', async (_where, file, reason) => {
    const { exit, err, out } = await run(file);

    expect(exit).toBe(2);
    expect(err).toBe(`--report ${join(folder, file)} cannot be written: ${reason}.\n`);
    expect(out).toBe('');
  });

  it('is written in each form that was asked for', async () => {
    const { exit, err } = await run('suite.json', 'suite.xml', 'suite.html');

    expect(exit, err).toBe(0);
    expect(await readFile(join(folder, 'suite.json'), 'utf8')).toMatch(/^\{\n/);
    expect(await readFile(join(folder, 'suite.xml'), 'utf8')).toMatch(/^<\?xml/);
    expect(await readFile(join(folder, 'suite.html'), 'utf8')).toMatch(/^<!doctype html>/);
  });
});
