import { HostError } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../exit-code.ts';
import { startFailure } from './start-failure.ts';

describe('a store that fails while the host starts', () => {
  it.each([
    ['store_full', 'has no room left'],
    ['store_unavailable', 'did not answer'],
  ])('for %s is explained in a sentence, not as a defect', (cause, words) => {
    const error = new HostError('service_unavailable', 'Try again.', { cause });

    expect(startFailure(error, 'postgres://db/weft')).toMatchObject({
      exitCode: EXIT.unusable,
      message: expect.stringContaining(`postgres://db/weft could not be used at the start: it ${words}`),
    });
  });

  it('hides no other failure', () => {
    const defect = new TypeError('x is not a function');

    expect(startFailure(defect, '.weft')).toBe(defect);
  });
});
