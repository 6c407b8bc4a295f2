import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { recordedIo } from '../../testing/recorded-io.ts';
import { type AnswerInput, confirm } from './confirm.ts';

function typing(text: string, isTTY = true): AnswerInput {
  const input = Object.assign(new PassThrough(), { isTTY });
  input.end(text);
  return input;
}

describe('a question before something goes for good', () => {
  it.each([
    ['y\n', true],
    ['YES\n', true],
    ['\n', false],
    ['n\n', false],
    ['yesterday\n', false],
    ['', false],
  ])('answered with %j is %s', async (text, expected) => {
    const io = recordedIo({ cwd: '/', isTTY: true });

    expect(await confirm(io, 'This removes 2 runs.', { count: 2 }, typing(text))).toBe(expected);
    expect(io.err()).toBe('This removes 2 runs. [y/N] ');
  });

  it.each([
    [true, false],
    [false, true],
  ])('is a condition not met where there is no terminal to ask on (out %s, in %s)', async (out, into) => {
    const io = recordedIo({ cwd: '/', isTTY: out });

    await expect(
      confirm(io, 'This removes 2 runs.', { count: 2 }, typing('y\n', into)),
    ).rejects.toMatchObject({
      code: 'confirmation_required',
      exitCode: 4,
      details: { count: 2 },
    });
    expect(io.err()).toBe('');
  });
});
