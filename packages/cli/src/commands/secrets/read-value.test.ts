import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { recordedIo } from '../../testing/recorded-io.ts';
import { readSecretValue, type ValueInput } from './read-value.ts';

const pipe = (...parts: readonly (string | Buffer)[]): ValueInput => {
  const stream = new PassThrough();
  for (const part of parts) stream.write(part);
  stream.end();
  return stream;
};

/** A terminal: what was typed, and whether it echoes. */
function terminal(...keys: readonly string[]) {
  const modes: boolean[] = [];
  const stream = pipe(...keys);
  const input: ValueInput = {
    [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
    isTTY: true,
    setRawMode: (on) => modes.push(on),
  };
  return { input, modes };
}

const io = () => recordedIo({ cwd: '/nowhere', env: { TOKEN: 'from the variable', EMPTY: '' } });

describe('the value of a secret', () => {
  it('is all of stdin without the last line end', async () => {
    const sign = Buffer.from('é');

    expect(await readSecretValue(io(), undefined, pipe('line one\n', 'line two\r\n'))).toBe(
      'line one\nline two',
    );
    expect(await readSecretValue(io(), undefined, pipe(sign.subarray(0, 1), sign.subarray(1)))).toBe('é');
  });

  it('comes from a variable when one is named', async () => {
    expect(await readSecretValue(io(), 'TOKEN', pipe('stdin'))).toBe('from the variable');
    await expect(readSecretValue(io(), 'NOBODY', pipe())).rejects.toMatchObject({ exitCode: 2 });
  });

  it('is typed without being shown, with the erase key at work', async () => {
    const { input, modes } = terminal('sesaxm', '\u007f\u007fme', '\r');
    const recorded = io();

    expect(await readSecretValue(recorded, undefined, input)).toBe('sesame');
    expect(modes).toEqual([true, false]);
    expect(recorded.err() + recorded.out()).toBe('Value (not shown): \n');
  });

  it('is not stored when it is empty or Ctrl-C was pressed, and the terminal echoes again', async () => {
    const { input, modes } = terminal('abc\u0003');

    await expect(readSecretValue(io(), undefined, input)).rejects.toMatchObject({ code: 'cancelled' });
    expect(modes).toEqual([true, false]);
    await expect(readSecretValue(io(), undefined, pipe('\n'))).rejects.toMatchObject({ exitCode: 2 });
    await expect(readSecretValue(io(), 'EMPTY', pipe())).rejects.toMatchObject({ exitCode: 2 });
  });
});
