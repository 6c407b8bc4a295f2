import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { integrityOf } from '../signing/integrity.ts';
import { refusal } from '../testing/refusal.ts';
import { type LockEntry, lockfileText, readLockfile } from './lockfile.ts';

const AT = '2026-06-01T00:00:00.000Z';
const integrity = integrityOf(Buffer.from('x'));

function entry(name: string, version = '1.0.0', dependencies?: Record<string, string>): LockEntry {
  return {
    name: `vendor.acme.${name}`,
    version,
    resolved: `vendor.acme.${name}-${version}.tgz`,
    integrity,
    ...(dependencies && { dependencies }),
  };
}

describe('the lockfile', () => {
  it('has the same text for the same packs, in whatever order they were installed, and is read back', () => {
    const packs = fc.uniqueArray(
      fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1.0.0', '1.2.0', '1.10.0', '2.0.0-rc.1')),
      { selector: ([name, version]) => name + version },
    );
    fc.assert(
      fc.property(packs, fc.infiniteStream(fc.nat()), (chosen, order) => {
        const entries = chosen.map(([name, version]) => entry(name, version));
        const shuffled = [...entries].sort(() => (order.next().value % 2) * 2 - 1);

        const text = lockfileText(entries, AT);

        expect(lockfileText(shuffled, AT)).toBe(text);
        expect(readLockfile(text).packs).toHaveLength(entries.length);
        expect(lockfileText(readLockfile(text).packs, AT)).toBe(text);
      }),
    );
  });

  it('sorts versions as versions', () => {
    const text = lockfileText([entry('a', '1.10.0'), entry('a', '1.9.0')], AT);

    expect(readLockfile(text).packs.map(({ version }) => version)).toEqual(['1.9.0', '1.10.0']);
  });

  it.each<[string, LockEntry[]]>([
    ['pack_lockfile_incomplete', [entry('a', '1.0.0', { 'vendor.acme.b': '^1.0.0' })]],
    ['pack_dependency_conflict', [entry('a', '1.0.0', { 'vendor.acme.b': '^1.0.0' }), entry('b', '2.0.0')]],
    [
      'pack_dependency_conflict',
      [entry('a', '1.0.0', { 'vendor.acme.b': '^1.0.0' }), entry('b', '1.1.0-rc.1')],
    ],
    [
      'pack_dependency_cycle',
      [entry('a', '1.0.0', { 'vendor.acme.b': '*' }), entry('b', '1.0.0', { 'vendor.acme.a': '*' })],
    ],
  ])('is refused with %s', async (code, packs) => {
    expect(await refusal(() => lockfileText(packs, AT))).toMatchObject({ code });
  });

  it('takes the highest version that fits', () => {
    const packs = [
      entry('a', '1.0.0', { 'vendor.acme.b': '^1.0.0' }),
      entry('b', '1.0.0'),
      entry('b', '2.0.0'),
    ];

    expect(() => lockfileText(packs, AT)).not.toThrow();
  });

  it.each([
    ['not JSON', '{'],
    ['another version', JSON.stringify({ lockfileVersion: 2, generatedAt: AT, packs: [] })],
    ['a field too many', JSON.stringify({ lockfileVersion: 1, generatedAt: AT, packs: [], x: 1 })],
    [
      'an archive elsewhere',
      JSON.stringify({
        lockfileVersion: 1,
        generatedAt: AT,
        packs: [{ ...entry('a'), resolved: '../a.tgz' }],
      }),
    ],
    [
      'a pack twice',
      JSON.stringify({ lockfileVersion: 1, generatedAt: AT, packs: [entry('a'), entry('a')] }),
    ],
  ])('is refused when it is %s', async (_, text) => {
    expect(await refusal(() => readLockfile(text))).toMatchObject({ code: 'pack_lockfile_invalid' });
  });
});
