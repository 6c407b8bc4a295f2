import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cross } from '../contract/cross.ts';
import { diff } from '../contract/diff.ts';
import type { Evidence } from '../contract/evidence.ts';
import { renderDiff } from '../contract/render.ts';
import { DECLARED, runFiles, sdkLine } from '../testing/runs.ts';
import { entriesOf, type TarEntry, tarOf } from '../testing/tar.ts';
import { type ReadOptions, readRun } from './read-run.ts';
import { outputConflict, writeOutput } from './write-output.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-evidence-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function lay(name: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  for (const [file, content] of Object.entries(files)) {
    const path = join(folder, name, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return join(folder, name);
}

function pack(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

async function readTar(entries: readonly TarEntry[], options: ReadOptions = {}): Promise<Evidence> {
  return readRun(pack('run.tar', tarOf(entries)), options);
}

function refusals(evidence: Evidence): string[] {
  return evidence.problems.filter((problem) => problem.effect === 'failed').map((problem) => problem.code);
}

const FILES: Record<string, string> = { ...runFiles(), 'layers/kernel.ndjson': '{}\n', 'events.ndjson': '' };
const GOOD = entriesOf(FILES);

describe('one run in several forms', () => {
  it('gives the same bytes as a folder, a .tar.gz, a .tar and two gzip members', async () => {
    const tar = tarOf(GOOD);
    const paths = [
      lay('folder', FILES),
      pack('a.tar.gz', gzipSync(tar)),
      pack('a.tar', tar),
      pack('two.tar.gz', Buffer.concat([gzipSync(tar.subarray(0, 700)), gzipSync(tar.subarray(700))])),
    ];

    const outputs = [];
    for (const path of paths) {
      const run = await readRun(path, { workDirPrefix: DECLARED.basePrefix, keepRawPaths: true });
      expect(refusals(run)).toEqual([]);
      const other = { ...DECLARED, headPrefix: DECLARED.basePrefix };
      outputs.push(renderDiff(cross(run, run, other).diff) + renderDiff(diff(run, run).diff));
    }

    expect(new Set(outputs).size).toBe(1);
    expect(outputs[0]).toContain('<work>/in.txt');
  });

  it('reads what other tools pack: ustar with type 0 and directories', async () => {
    const ustar = GOOD.map((entry) => ({
      ...entry,
      type: '0',
      edit: (header: Buffer) => header.write('ustar\u000000', 257, 'latin1'),
    }));

    const run = await readTar([{ name: 'layers/', type: '5' }, ...ustar]);

    expect(run.problems).toEqual([]);
    expect(run.health?.runId).toBe('run_1');
  });

  it('reads members in any order', async () => {
    expect(refusals(await readTar([...GOOD].reverse()))).toEqual([]);
  });

  it('reads several runs at once', async () => {
    const paths = ['a', 'b', 'c', 'd'].map((name) => pack(`${name}.tar.gz`, gzipSync(tarOf(GOOD))));

    const runs = await Promise.all(paths.map((path) => readRun(path)));

    expect(runs.map(refusals)).toEqual([[], [], [], []]);
  });
});

describe('a hostile archive is refused for', () => {
  const long = `layers/${'x'.repeat(150)}`;
  const withLong = entriesOf({ ...FILES, [long]: 'y' });
  const replace = (name: string, change: Partial<TarEntry>): TarEntry[] =>
    GOOD.map((entry) => (entry.name === name ? { ...entry, ...change } : entry));
  const withManifest = (from: string, to: string): TarEntry[] =>
    replace('manifest.json', { data: String(GOOD[0]?.data).replaceAll(from, to) });
  const { 'layers/sdk.ndjson': sdk = '', ...withoutSdk } = FILES;

  it.each<[string, TarEntry[], string]>([
    ['a symbolic link', replace('observation-health.json', { type: '2', data: '' }), 'tar_type'],
    ['a hard link', replace('observation-health.json', { type: '1', data: '' }), 'tar_type'],
    ['a device', [...GOOD, { name: 'tty', type: '3' }], 'tar_type'],
    ['a global header', [{ name: 'g', type: 'g', data: '' }, ...GOOD], 'tar_type'],
    ['an absolute name', [...GOOD, { name: '/etc/passwd', data: 'x' }], 'member_name'],
    ['a name that climbs out', [...GOOD, { name: 'layers/../../x', data: 'x' }], 'member_name'],
    ['a directory that climbs out', [...GOOD, { name: '../', type: '5' }], 'member_name'],
    ['the same name twice', [...GOOD, { name: 'events.ndjson', data: '' }], 'tar_duplicate'],
    ['a member that is not listed', [...GOOD, { name: 'extra', data: 'x' }], 'not_listed'],
    ['a listed member that is not there', GOOD.slice(0, -1), 'listed_but_missing'],
    ['no manifest', GOOD.slice(1), 'no_manifest'],
    ['changed bytes', replace('layers/kernel.ndjson', { data: '[]\n' }), 'wrong_digest'],
    ['another size', replace('layers/kernel.ndjson', { data: '{}\n\n' }), 'wrong_size'],
    [
      'a NUL inside a name',
      replace('events.ndjson', { edit: (header) => header.write('x', 50) }),
      'tar_name',
    ],
    [
      'a name that is not UTF-8',
      [...GOOD, { name: 'x', edit: (header) => header.fill(0xff, 0, 1) }],
      'tar_name',
    ],
    [
      'a size that is no number',
      replace('events.ndjson', { edit: (header) => header.write('zzz', 124) }),
      'tar_size',
    ],
    ['8 GiB that are not there', replace('events.ndjson', { size: 8 * 1024 ** 3 - 1 }), 'limit'],
    [
      'a size beyond octal',
      replace('events.ndjson', { edit: (header) => header.fill(0xff, 124, 136) }),
      'limit',
    ],
    ['a PAX size', [{ name: 'p', type: 'x', data: '11 size=99\n' }, ...GOOD], 'tar_extension'],
    [
      'a PAX record that lies about its length',
      [{ name: 'p', type: 'x', data: '99 path=a\n' }, ...GOOD],
      'tar_extension',
    ],
    [
      'a renamed manifest',
      [{ name: 'p', type: 'x', data: '22 path=manifest.json\n' }, ...GOOD],
      'tar_extension',
    ],
    ['a manifest of another run', entriesOf(FILES, 'other'), 'run_id_mismatch'],
    ['a newer manifest', withManifest('archive_manifest.v0', 'archive_manifest.v1'), 'wrong_schema'],
    ['digests that do not say how they were made', withManifest('sha256:', ''), 'manifest_digest_form'],
    [
      'a file under its name in other letters',
      entriesOf({ ...withoutSdk, 'layers/SDK.ndjson': sdk }),
      'missing_file',
    ],
    [
      'two name extensions',
      [{ name: 'l', type: 'L', data: 'a' }, { name: 'l', type: 'L', data: 'b' }, ...GOOD],
      'tar_extension',
    ],
  ])('%s', async (_, entries, code) => {
    expect(refusals(await readTar(entries))).toContain(code);
  });

  it('a wrong header checksum', async () => {
    const tar = tarOf(GOOD);
    tar[0] = 0x6e;

    expect(refusals(await readRun(pack('x.tar', tar)))).toEqual(['tar_checksum']);
  });

  it('an end that is missing or comes too early', async () => {
    expect(refusals(await readRun(pack('empty.tar.gz', new Uint8Array())))).toHaveLength(1);
    expect(refusals(await readRun(pack('x.tar', tarOf(GOOD, 0))))).toEqual(['tar_truncated']);
    expect(refusals(await readRun(pack('y.tar', tarOf(GOOD).subarray(0, 600))))).toEqual(['tar_truncated']);
    const early = Buffer.concat([Buffer.alloc(512), tarOf(GOOD)]);
    expect(refusals(await readRun(pack('z.tar', early)))).toEqual(['tar_end']);
  });

  it('damage to the gzip stream', async () => {
    const gzip = gzipSync(tarOf(GOOD));
    const wrongCrc = Buffer.from(gzip);
    wrongCrc[gzip.length - 8]! ^= 1;

    expect(refusals(await readRun(pack('crc.tar.gz', wrongCrc)))).toEqual(['gzip_damaged']);
    for (const length of [3, 12, Math.floor(gzip.length / 2), gzip.length - 9, gzip.length - 1]) {
      const run = await readRun(pack(`cut-${length}.tar.gz`, gzip.subarray(0, length)));
      expect(refusals(run)).toHaveLength(1);
    }
  });

  it('a bomb, before it is held in memory', async () => {
    const bomb = gzipSync(tarOf([...GOOD, { name: 'zeros', data: new Uint8Array(8 * 1024 * 1024) }]));

    const run = await readRun(pack('bomb.tar.gz', bomb), { limits: { inflated: 1024 * 1024 } });
    const long = await readRun(pack('long.tar.gz', bomb), { limits: { compressed: 1000 } });

    expect(refusals(run)).toEqual(['limit']);
    expect(refusals(long)).toEqual(['limit']);
  });

  it('nothing when a long name is listed, in GNU form or as PAX', async () => {
    const named = (extension: TarEntry): TarEntry[] =>
      withLong.flatMap((entry) => (entry.name === long ? [extension, { ...entry, name: 'short' }] : [entry]));
    const pax = `${long.length + 10} path=${long}\n`;

    expect(refusals(await readTar(named({ name: '././@LongLink', type: 'L', data: `${long}\0` })))).toEqual(
      [],
    );
    expect(refusals(await readTar(named({ name: 'pax', type: 'x', data: pax })))).toEqual([]);
  });
});

describe('what only --lenient accepts', () => {
  const upper = (text: string): string =>
    text.replaceAll(/sha256:([0-9a-f]+)/g, (_, hex: string) => `sha256:${hex.toUpperCase()}`);

  it.each<[string, string, () => Uint8Array]>([
    ['./ names', 'a.tar', () => tarOf(GOOD.map((entry) => ({ ...entry, name: `./${entry.name}` })))],
    [
      'digests in upper case',
      'a.tar',
      () => tarOf([{ name: 'manifest.json', data: upper(String(GOOD[0]?.data)) }, ...GOOD.slice(1)]),
    ],
    ['bytes behind the tar', 'a.tar', () => Buffer.concat([tarOf(GOOD), Buffer.from('x')])],
    [
      'bytes behind the gzip stream',
      'a.tar.gz',
      () => Buffer.concat([gzipSync(tarOf(GOOD)), Buffer.from('garbage')]),
    ],
    [
      'zeros behind the gzip stream',
      'a.tar.gz',
      () => Buffer.concat([gzipSync(tarOf(GOOD)), Buffer.alloc(20)]),
    ],
    ['a plain tar named .tar.gz', 'a.tar.gz', () => tarOf(GOOD)],
  ])('%s', async (_, name, make) => {
    const path = pack(name, make());

    const strict = await readRun(path);
    const lenient = await readRun(path, { lenient: true });

    expect(refusals(strict)).not.toEqual([]);
    expect(refusals(lenient)).toEqual([]);
    expect(lenient.problems).toContainEqual(expect.objectContaining({ effect: 'note' }));
    expect(renderDiff(diff(lenient, lenient).diff)).not.toContain('lenient');
  });
});

describe('a folder', () => {
  it('is checked against its manifest, which is reported and not required', async () => {
    const manifest = String(GOOD[0]?.data);
    const path = lay('run', { ...FILES, 'manifest.json': manifest, 'layers/kernel.ndjson': 'changed' });

    const run = await readRun(path);

    expect(refusals(run)).toEqual([]);
    expect(run.problems.map((problem) => problem.code)).toEqual(['wrong_size', 'wrong_digest']);
  });

  it('may hold links to files, not anything else', async () => {
    const path = lay('run', FILES);
    const elsewhere = lay('other', { 'health.json': FILES['observation-health.json'] ?? '' });
    rmSync(join(path, 'observation-health.json'));
    symlinkSync(join(elsewhere, 'health.json'), join(path, 'observation-health.json'));
    rmSync(join(path, 'capability-surface.json'));
    mkdirSync(join(path, 'capability-surface.json'));

    const run = await readRun(path);

    expect(run.health?.runId).toBe('run_1');
    expect(refusals(run)).toEqual(['unreadable']);
  });

  it('shows the work dir it was started with, however long its event log is', async () => {
    const started = JSON.stringify({ type: 'run_started', command: ['agent', '/w/a'] });
    const path = lay('run', { ...FILES, 'events.ndjson': `${started}\n${'{}\n'.repeat(100_000)}` });

    expect((await readRun(path)).prefixHint).toBe('/w/a/');
  });

  it('is not read beyond its limit', async () => {
    const path = lay('run', FILES);
    truncateSync(join(path, 'layers/sdk.ndjson'), 5_000_000);

    expect(refusals(await readRun(path, { limits: { inflated: 1_000_000 } }))).toEqual(['unreadable']);
  });

  it('that is not there is a problem, not an exception', async () => {
    expect(refusals(await readRun(join(folder, 'nowhere')))).toEqual(['unreadable']);
  });

  it('may hold an SDK layer of any length: memory does not grow with it', async () => {
    const path = lay('run', { ...FILES, 'layers/sdk.ndjson': sdkLine().repeat(200_000) });
    await readRun(lay('warm', FILES));
    const before = process.memoryUsage();

    const run = await readRun(path);

    const after = process.memoryUsage();
    expect(run.sdk?.events).toBe(200_000);
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(16 * 1024 * 1024);
  });

  it('may hold a value of ten megabytes and a hundred thousand bindings', async () => {
    const bindings = Array.from({ length: 100_000 }, (_, index) => ({
      tool_call_id: `tc_${index}`,
      policy_decision: 'allow',
    }));
    const files = runFiles({
      surface: { process_execs: ['x'.repeat(10_000_000)] },
      correlation: { bindings },
    });

    const run = await readRun(lay('run', files));

    expect(refusals(run)).toEqual([]);
    expect(diff(run, run).diff.bindingIds.counts.unchanged).toBe(100_000);
  });
});

describe('an output file', () => {
  it('is there as a whole or not at all', () => {
    const path = join(folder, 'out.json');
    writeOutput(path, (write) => write(Buffer.from('old')));

    expect(() =>
      writeOutput(path, (write) => {
        write(Buffer.from('new'));
        throw new Error('interrupted');
      }),
    ).toThrow('interrupted');

    expect(readdirSync(folder)).toEqual(['out.json']);
  });

  it('is never an input, by whatever name', () => {
    const run = lay('run', FILES);
    const archive = pack('a.tar', tarOf(GOOD));
    symlinkSync(archive, join(folder, 'link'));

    expect(outputConflict(archive, [archive])).toBeDefined();
    expect(outputConflict(join(folder, 'link'), [archive])).toBeDefined();
    expect(outputConflict(join(run, 'observation-health.json'), [run])).toBeDefined();
    expect(outputConflict(join(run, 'new', 'diff.json'), [run])).toBeDefined();
    expect(outputConflict(join(folder, 'diff.json'), [run, archive])).toBeUndefined();
  });
});
