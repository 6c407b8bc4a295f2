import { describe, expect, it } from 'vitest';
import { traceparentOf } from './trace-context.ts';

const good = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('traceparent', () => {
  it('is taken when well-formed', () => {
    expect(traceparentOf(good)).toBe(good);
  });

  it.each([
    undefined,
    '',
    'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
    '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01',
    `${good}\n`,
  ])('is ignored as %j', (header) => {
    expect(traceparentOf(header)).toBeUndefined();
  });
});
