import { describe, expect, it } from 'vitest';
import { compareVersions, developmentVersion } from './version-order.ts';

describe('versions of node types', () => {
  it('are ordered by semantic precedence', () => {
    const ordered = [
      '0.9.9',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.10',
      '1.2.0',
      '10.0.0',
    ];

    expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered);
  });

  it('are equal whatever follows the plus sign', () => {
    expect(compareVersions('1.0.0+aaaa', '1.0.0')).toBe(0);
    expect(compareVersions('1.0.0-a+b', '1.0.0-a+c')).toBe(0);
  });

  it('compare numbers of any length without losing digits', () => {
    expect(compareVersions('1.0.0-9007199254740993', '1.0.0-9007199254740992')).toBeGreaterThan(0);
    expect(compareVersions('1.0.0-0010', '1.0.0-9')).toBeGreaterThan(0);
  });

  it('get the beginning of the digest in development', () => {
    expect(developmentVersion('1.0.0', '0123456789abcdef')).toBe('1.0.0+01234567');
    expect(developmentVersion('1.0.0+mine', '0123456789abcdef')).toBe('1.0.0+mine.01234567');
  });
});
