import { describe, expect, it } from 'vitest';
import { isNodeError, LONGEST_MESSAGE, NodeError, ownLine, taskErrorOf } from './node-error.ts';

describe('an error of a node', () => {
  it('has a code in the form of codes, and a delay in milliseconds', () => {
    expect(() => new NodeError('Card declined', 'No.')).toThrow(
      /such as card_declined, not "Card declined" \(No\.\)/,
    );
    expect(() => new NodeError('a', 'No.', { retryAfterMs: -1 })).toThrow(/whole number of milliseconds/);
  });

  it('is known by its name: an author may have another copy of this package', () => {
    const foreign = Object.assign(new Error('No.'), {
      name: 'NodeError',
      code: 'card_declined',
      retryable: true,
    });

    expect(isNodeError(foreign)).toBe(true);
    expect(taskErrorOf(foreign)).toEqual({ code: 'card_declined', message: 'No.', retryable: true });
  });

  it('is reported with what JSON can hold, whatever was thrown', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;

    expect(taskErrorOf(new NodeError('a', 'No.', { details: cycle }))).toMatchObject({
      details: { unreadable: expect.any(String) },
    });
    expect(taskErrorOf(new NodeError('a', ''))).toMatchObject({ message: 'a' });
    expect(taskErrorOf('only text')).toEqual({ code: 'node_failed', message: 'only text' });
    expect(taskErrorOf(Object.create(null))).toMatchObject({ message: 'a value that cannot be shown' });
    expect(taskErrorOf(new Error('x'.repeat(10_000))).message).toHaveLength(LONGEST_MESSAGE);
  });

  it('names the first line of the author’s own code', () => {
    const stack = [
      'Error: no',
      '    at fetch (node:internal/deps/undici:1:2)',
      '    at call (/home/ada/shop/node_modules/stripe/index.js:10:5)',
      '    at async Object.run (file:///home/ada/shop/nodes/charge.ts:12:9)',
      '    at later (/home/ada/shop/nodes/other.ts:1:1)',
    ].join('\n');

    expect(ownLine(stack)).toBe('/home/ada/shop/nodes/charge.ts:12:9');
    expect(ownLine('Error: no')).toBeUndefined();
  });
});
