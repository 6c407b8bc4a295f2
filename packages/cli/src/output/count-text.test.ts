import { describe, expect, it } from 'vitest';
import { countText } from './count-text.ts';

describe('a count', () => {
  it('stands with the right number of its noun', () => {
    expect([0, 1, 2].map((count) => countText(count, 'run'))).toEqual(['0 runs', '1 run', '2 runs']);
    expect([1, 3].map((count) => countText(count, 'entry', 'entries'))).toEqual(['1 entry', '3 entries']);
  });
});
