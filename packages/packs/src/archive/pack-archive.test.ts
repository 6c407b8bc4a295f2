import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PackError } from '../pack-error.ts';
import { refusal } from '../testing/refusal.ts';
import { filesOf, type RawEntry, rawArchive } from '../testing/sample-packs.ts';
import { PACK_LIMITS } from './limits.ts';
import { readPackArchive } from './read-archive.ts';
import { writePackArchive } from './write-archive.ts';

const MANIFEST: RawEntry = { name: 'pack.json', data: '{}' };
const part = fc.stringMatching(/^[a-zA-Z0-9_][a-zA-Z0-9_.é-]{0,30}$/).filter((text) => !/^\.+$/.test(text));
const fileName = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const packFiles = fc
  .dictionary(fileName, fc.uint8Array({ maxLength: 2_000 }), { maxKeys: 8, noNullPrototype: true })
  .map((files) => new Map(Object.entries({ ...files, 'pack.json': Buffer.from('{}') })));

describe('an archive', () => {
  it('gives back the files that were written, whatever they are, in the same bytes each time', async () => {
    await fc.assert(
      fc.asyncProperty(packFiles, async (files) => {
        const archive = writePackArchive(files);
        const again = writePackArchive(new Map([...files].reverse()));

        expect(Buffer.compare(archive, again)).toBe(0);
        const read = await readPackArchive(archive);
        expect([...read.keys()].sort()).toEqual([...files.keys()].sort());
        for (const [name, bytes] of files)
          expect(Buffer.compare(read.get(name) ?? Buffer.of(1), bytes)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it('is read whole or refused with a code, wherever a byte of it is changed or missing', async () => {
    const archive = writePackArchive(filesOf());
    await fc.assert(
      fc.asyncProperty(
        fc.nat(archive.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        async (at, by, isCut) => {
          const changed = Buffer.from(archive);
          changed[at] = (changed[at] ?? 0) ^ by;
          try {
            const files = await readPackArchive(isCut ? archive.subarray(0, at) : changed);
            expect(files.size).toBe(3);
          } catch (error) {
            expect(error).toBeInstanceOf(PackError);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each<[string, string, Uint8Array]>([
    ['tarball_path_traversal', 'a name that leads out', rawArchive([MANIFEST, { name: '../x' }])],
    [
      'tarball_path_traversal',
      'a name that leads out further in',
      rawArchive([MANIFEST, { name: 'a/../../x' }]),
    ],
    ['tarball_path_traversal', 'an absolute name', rawArchive([MANIFEST, { name: '/etc/passwd' }])],
    ['tarball_path_traversal', 'an absolute name of Windows', rawArchive([MANIFEST, { name: 'C:\\x' }])],
    ['tarball_path_traversal', 'a name with empty parts', rawArchive([MANIFEST, { name: 'a//b' }])],
    [
      'tarball_tar_parse_failed',
      'a symbolic link',
      rawArchive([MANIFEST, { name: 'a', type: '2', link: '/etc' }]),
    ],
    [
      'tarball_tar_parse_failed',
      'a hard link',
      rawArchive([MANIFEST, { name: 'a', type: '1', link: 'pack.json' }]),
    ],
    ['tarball_tar_parse_failed', 'a device', rawArchive([MANIFEST, { name: 'a', type: '3' }])],
    ['tarball_tar_parse_failed', 'a name twice', rawArchive([MANIFEST, { name: 'a' }, { name: 'a' }])],
    ['tarball_tar_parse_failed', 'two manifests', rawArchive([MANIFEST, MANIFEST])],
    ['tarball_tar_parse_failed', 'no end', rawArchive([MANIFEST], new Uint8Array())],
    [
      'tarball_tar_parse_failed',
      'bytes behind the end',
      rawArchive([MANIFEST], Buffer.alloc(1100, 1).fill(0, 0, 1024)),
    ],
    [
      'tarball_tar_parse_failed',
      'bytes behind the gzip',
      Buffer.concat([rawArchive([MANIFEST]), Buffer.from('more')]),
    ],
    ['tarball_manifest_missing', 'no manifest', rawArchive([{ name: 'a' }])],
    ['tarball_manifest_missing', 'a manifest in a folder', rawArchive([{ name: 'package/pack.json' }])],
    ['tarball_gunzip_failed', 'no gzip', Buffer.from('PK\x03\x04')],
    ['tarball_tar_parse_failed', 'nothing', new Uint8Array()],
    [
      'tarball_entry_too_large',
      'a file that says it is large',
      rawArchive([MANIFEST, { name: 'a', size: 6_000_000 }]),
    ],
    ['tarball_manifest_too_large', 'a large manifest', rawArchive([{ name: 'pack.json', size: 300_000 }])],
    ['tarball_too_large', 'a bomb of zeros', gzipSync(Buffer.alloc(PACK_LIMITS.inflated + 1024))],
    [
      'tarball_too_large',
      'more files than a pack may have',
      rawArchive([MANIFEST, ...Array.from({ length: PACK_LIMITS.files }, (_, at) => ({ name: `f${at}` }))]),
    ],
    ['payload_too_large', 'more bytes than a pack may have', Buffer.alloc(PACK_LIMITS.compressed + 1)],
  ])('is refused with %s: %s', async (code, _, archive) => {
    expect(await refusal(() => readPackArchive(archive))).toMatchObject({ code });
  });

  it.each([
    ['tarball_path_traversal', '../x'],
    ['tarball_path_traversal', 'a\0b'],
    ['tarball_tar_parse_failed', 'x'.repeat(101)],
  ])('is not written with %s: %j', async (code, name) => {
    expect(await refusal(() => writePackArchive(new Map([[name, new Uint8Array()]])))).toMatchObject({
      code,
    });
  });
});
