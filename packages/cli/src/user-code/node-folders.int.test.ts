import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadNodeFolders } from './node-folders.ts';

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-nodes-')));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, text: string): Promise<void> {
  const file = join(folder, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

function node(name: string, typeId: string): string {
  return `import { defineNode, Type } from '@weft/sdk/nodes';
export const ${name} = defineNode({ typeId: '${typeId}', version: '1.0.0',
  inputs: { a: Type.Number() }, outputs: { b: Type.Number() }, run: ({ inputs }) => ({ b: inputs.a as number }) });\n`;
}

describe('a folder of node types', () => {
  it('has what its files export, of both languages, without tests and declarations', async () => {
    await write('one.ts', `${node('one', 'acme.one')}export { one as same };\nexport const other = 1;`);
    await write('two.mjs', node('two', 'acme.two').replace(' as number', ''));
    await write('one.test.ts', 'throw new Error("a test is no node");');
    await write('types.d.ts', 'export declare const x: 1;');
    await write('lib/helper.ts', 'throw new Error("not asked for");');

    const { nodes, warnings } = await loadNodeFolders([folder], folder);

    expect(nodes.map(({ definition, file }) => [definition.typeId, file])).toEqual([
      ['acme.one', join(folder, 'one.ts')],
      ['acme.two', join(folder, 'two.mjs')],
    ]);
    expect(warnings).toEqual([]);
  });

  it('warns of a file that defines nothing', async () => {
    await write('helper.ts', 'export const twice = (n: number) => 2 * n;');

    const { nodes, warnings } = await loadNodeFolders([folder], folder);

    expect(nodes).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('helper.ts exports no node type')]);
  });

  it('is refused with both files when a type is defined twice', async () => {
    await write('a.ts', node('one', 'acme.one'));
    await write('b.ts', node('again', 'acme.one'));

    await expect(loadNodeFolders([folder], folder)).rejects.toThrow(
      'acme.one 1.0.0 is defined twice: in a.ts and in b.ts',
    );
  });

  it('is refused with file and line when a file cannot be loaded', async () => {
    await write('bad.ts', 'const a = 1;\nconst b = ;');

    await expect(loadNodeFolders([folder], folder)).rejects.toThrow(`${join(folder, 'bad.ts')}:2:11`);
  });

  it('is named when it is not there', async () => {
    await expect(loadNodeFolders([join(folder, 'none')], folder)).rejects.toThrow(/none cannot be read/);
  });
});
