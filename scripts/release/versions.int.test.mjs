import { describe, expect, it } from 'vitest';
import { versionProblems } from './versions.mjs';

const packageOf = (name, version, dependencies = {}) => ({ manifest: { name, version, dependencies } });

describe('the versions of a release', () => {
  it('are one, everywhere, and stand in the changelog', () => {
    const packages = [
      packageOf('@weft/a', '1.2.0'),
      packageOf('@weft/b', '1.2.0', { '@weft/a': '1.2.0', other: '7' }),
    ];

    expect(versionProblems(packages, '# Changelog\n\n## 1.2.0\n')).toEqual([]);
  });

  it.each([
    [
      'differ',
      [packageOf('@weft/a', '1.2.0'), packageOf('@weft/b', '1.3.0')],
      /different versions: 1.2.0, 1.3.0/,
    ],
    [
      'of a dependency differ',
      [packageOf('@weft/b', '1.2.0', { '@weft/a': '1.1.0' })],
      /needs @weft\/a 1.1.0/,
    ],
    ['are not in the changelog', [packageOf('@weft/a', '1.4.0')], /no section "## 1.4.0"/],
  ])('are a problem when they %s', (_how, packages, problem) => {
    expect(versionProblems(packages, '# Changelog\n\n## 1.2.0\n').join('\n')).toMatch(problem);
  });
});
