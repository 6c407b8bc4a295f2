import { describe, expect, it } from 'vitest';
import { readCommandLine } from './command-line.ts';

const OPTIONS = { quick: { type: 'boolean', default: false }, only: { type: 'string' } } as const;
const read = (...argv: string[]) => readCommandLine(argv, 'Usage: …', OPTIONS);

describe('a command line of the bench', () => {
  it('gives the flags', () => {
    expect(read('--only', 'sse')).toEqual({ values: { quick: false, only: 'sse' } });
  });

  it.each(['--help', '-h'])('with %s says how it is used, whatever else stands there', (flag) => {
    expect(read('--nonsense', flag)).toEqual({ say: 'Usage: …', exitCode: 0 });
  });

  it.each([
    [['--nonsense'], "Unknown option '--nonsense'\n\nUsage: …"],
    [['sse'], "Unexpected argument 'sse'\n\nUsage: …"],
    [['--only'], "Option '--only <value>' argument missing\n\nUsage: …"],
  ])('with %j says what is wrong with it', (argv, say) => {
    expect(read(...argv)).toEqual({ say, exitCode: 2 });
  });
});
