import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAnswers, splitWords } from './answer.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-answer-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('answers on the command line', () => {
  it('may name the node before them', () => {
    expect(splitWords(['details', 'a=1', '@f'])).toEqual({ node: 'details', pairs: ['a=1', '@f'] });
    expect(splitWords(['a=1', 'b=2'])).toEqual({ node: undefined, pairs: ['a=1', 'b=2'] });
    expect(splitWords(['@f'])).toEqual({ node: undefined, pairs: ['@f'] });
  });

  it('are needed, and each names its question', () => {
    expect(() => splitWords([])).toThrow(/needs an answer/);
    expect(() => splitWords(['details'])).toThrow(/needs an answer/);
    expect(() => splitWords(['a=1', 'blue'])).toThrow(/not "blue"/);
    expect(() => splitWords(['details', '=x'])).toThrow(/not "=x"/);
  });

  it('are JSON where they look like it and text elsewhere, and the last one wins', async () => {
    await writeFile(join(folder, 'answers.json'), '{"colour": "red", "size": 2}');

    const answers = await readAnswers(['@answers.json', 'size=4', 'note=a=b', 'empty='], folder);

    expect(answers).toEqual({ colour: 'red', size: 4, note: 'a=b', empty: '' });
  });

  it('from a file must be an object', async () => {
    await writeFile(join(folder, 'list.json'), '[1]');

    await expect(readAnswers(['@list.json'], folder)).rejects.toMatchObject({ exitCode: 3 });
  });
});
