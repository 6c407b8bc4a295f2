import { describe, expect, it } from 'vitest';
import { closestName, editDistance } from './closest-name.ts';

describe('closestName', () => {
  it('finds what was meant by a typo, a swap or a beginning', () => {
    const names = ['serve', 'run', 'runs', 'workflows', 'keys', 'doctor'];

    expect(closestName('sevre', names)).toBe('serve');
    expect(closestName('wrkflow', names)).toBe('workflows');
    expect(closestName('work', names)).toBe('workflows');
    expect(closestName('runz', names)).toBe('run');
  });

  it('suggests nothing when nothing is near', () => {
    expect(closestName('xyz', ['serve', 'doctor'])).toBeUndefined();
    expect(closestName('a', ['b'])).toBeUndefined();
  });

  it('counts a swap of neighbours once', () => {
    expect(editDistance('ab', 'ba')).toBe(1);
    expect(editDistance('', 'abc')).toBe(3);
  });
});
