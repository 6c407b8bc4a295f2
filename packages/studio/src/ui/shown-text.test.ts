import { describe, expect, it } from 'vitest';
import { controlsShown, oneLine } from './shown-text.ts';

describe('text from outside', () => {
  it('cannot change the direction or the look of what stands around it', () => {
    expect(controlsShown('pay \u202Eevil\u2066 \u001B[31m ok\n')).toBe(
      'pay \\u202eevil\\u2066 \\u001b[31m ok\n',
    );
  });

  it('is cut to a line', () => {
    expect(oneLine({ a: 'x'.repeat(100) }, 12)).toBe('{"a":"xxxxx…');
    expect(oneLine('x'.repeat(1_000_000), 5)).toBe('xxxx…');
    expect(oneLine(undefined, 5)).toBe('');
  });
});
