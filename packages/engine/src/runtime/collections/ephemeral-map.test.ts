import { describe, expect, it } from 'vitest';
import { createEphemeralMap } from './ephemeral-map.ts';

describe('a churning map', () => {
  it('holds what was set last and not deleted since', () => {
    const map = createEphemeralMap<number>();

    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    map.delete('b');
    map.delete('never there');

    expect([map.get('a'), map.get('b'), map.size]).toEqual([3, undefined, 1]);
  });

  it('gives its values as they were, whatever happens to them afterwards', () => {
    const map = createEphemeralMap<number>();
    map.set('a', 1);
    map.set('b', 2);

    const values = map.values();
    map.delete('a');

    expect(values).toEqual([1, 2]);
    expect(map.values()).toEqual([2]);
  });
});
