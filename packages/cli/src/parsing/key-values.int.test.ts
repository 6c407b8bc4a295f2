import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readGivenValues, readJsonFile, readKeyValues } from './key-values.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-cli-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('inputs on the command line', () => {
  it('takes JSON values as JSON and everything else as text', async () => {
    const inputs = await readKeyValues(
      'input',
      ['n=3', 'ok=true', 'list=[1,"a"]', 'name=Ada', 'empty=', 'eq=a=b'],
      folder,
    );

    expect(inputs).toEqual({ n: 3, ok: true, list: [1, 'a'], name: 'Ada', empty: '', eq: 'a=b' });
  });

  it('takes a whole object from a file, and lets later pairs win', async () => {
    await writeFile(join(folder, 'in.json'), '{"a": 1, "b": 2}');

    const inputs = await readKeyValues('input', ['@in.json', 'b=3'], folder);

    expect(inputs).toEqual({ a: 1, b: 3 });
  });

  it('keeps the text of what a pair has set, and of nothing that a file has', async () => {
    await writeFile(join(folder, 'in.json'), '{"a": 1}');

    const { values, texts } = await readGivenValues('input', ['a=2', '@in.json', 'b=3'], folder);

    expect(values).toEqual({ a: 1, b: 3 });
    expect([...texts]).toEqual([['b', '3']]);
  });

  it('keeps a name that is special elsewhere as an ordinary one', async () => {
    const inputs = await readKeyValues('input', ['__proto__=1'], folder);

    expect(Object.keys(inputs)).toEqual(['__proto__']);
  });

  it('refuses what is neither a pair nor a file', async () => {
    await expect(readKeyValues('input', ['orphan'], folder)).rejects.toThrow(/name=value or @file/);
    await expect(readKeyValues('input', ['@missing.json'], folder)).rejects.toMatchObject({ exitCode: 3 });
  });

  it('says on which line a file stops being JSON', async () => {
    const path = join(folder, 'broken.json');
    await writeFile(path, '{\n  "a": 1,\n  "b": ?\n}');

    await expect(readJsonFile(path)).rejects.toThrow(/broken\.json:3:8: /);
  });
});
