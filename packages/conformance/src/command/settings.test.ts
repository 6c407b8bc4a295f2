import { describe, expect, it } from 'vitest';
import { type FlagValues, settingsFrom } from './settings.ts';

const URL_FLAG = { url: 'http://127.0.0.1:1' };
const settings = (flags: Partial<FlagValues>) => settingsFrom({ reports: [], ...flags }, {});

describe('a selection of checks', () => {
  it.each([
    ['a part of an id', 'default-mode'],
    ['a pattern', 'streams/default-*'],
    ['a requirement', 'STREAM-3'],
    ['letters of the other case', 'Streams/Default-Mode'],
    ['many stars', `${'*'.repeat(40)}default-mode`],
  ])('is made by %s', (_how, only) => {
    const ids = settings({ ...URL_FLAG, only }).checks.map(({ id }) => id);

    expect(ids).toContain('streams/default-mode');
    expect(ids.length).toBeLessThan(20);
  });

  it.each(['a(b[+', '.', '$', '^streams', '\\', 'streams|runs', 'no-such-check'])(
    'takes %s as it is written, and says that nothing fits',
    (only) => {
      expect(() => settings({ ...URL_FLAG, only })).toThrow(`No check fits --only "${only}"`);
    },
  );

  it('is not empty', () => {
    expect(() => settings({ ...URL_FLAG, only: '' })).toThrow('--only is empty');
    expect(() => settings({ offline: true, profile: 'openwop-memory' })).toThrow(
      'No check fits --profile openwop-memory with --offline',
    );
  });
});

describe('what is to be explained', () => {
  it('is found however its letters are written', () => {
    expect(settings({ ...URL_FLAG, explain: 'diff-3' }).explain).toBe('DIFF-3');
  });

  it('needs no host where no check looks at it', () => {
    const { checks, isOffline } = settings({ explain: 'PACK-7' });

    expect([checks, isOffline]).toEqual([[], true]);
  });

  it.each([
    [{ explain: 'DIFF' }, 'Is it one of DIFF-1, '],
    [{ explain: 'zzz' }, 'is no requirement and no check. Ids look like'],
    [{ explain: '' }, 'is no requirement and no check'],
    [{ explain: 'DIFF-3', only: 'diff/*' }, 'Leave out --only'],
    [{ explain: 'DIFF-3', offline: true }, 'in place of --offline'],
  ])('is refused clearly: %j', (flags, message) => {
    expect(() => settings({ ...URL_FLAG, ...flags })).toThrow(message);
  });
});

describe('flags that contradict each other', () => {
  it.each([
    [{ offline: true, strict: true }, '--strict looks at what a host claims'],
    [{ ...URL_FLAG, reports: ['a.json', './a.json'] }, 'is given twice'],
    [{ ...URL_FLAG, reports: ['a.txt'] }, "the file's ending says what to write"],
    [{ ...URL_FLAG, 'policy-providers': 'disabled=a,forbidden=b' }, 'Correct "forbidden=b"'],
    [{}, 'Which host?'],
  ])('are refused clearly: %j', (flags, message) => {
    expect(() => settings(flags)).toThrow(message);
  });
});
