import { mkdtemp, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadModule } from './load-module.ts';
import { UserCodeError } from './user-code-error.ts';

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-user-')));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, ...lines: string[]): Promise<string> {
  const file = join(folder, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, lines.join('\n'));
  return file;
}

async function failure(file: string): Promise<UserCodeError> {
  const error: unknown = await loadModule(file).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof UserCodeError) return error;
  throw new Error('the module was loaded', { cause: error });
}

describe('a module of a user', () => {
  it('is TypeScript, made of the files that it imports', async () => {
    const helper = await write('lib/helper.ts', 'export const twice = (n: number): number => n * 2;');
    const main = await write(
      'main.ts',
      "import { twice } from './lib/helper.ts';",
      'interface Shape { readonly a: number }',
      'export const shape: Shape = { a: twice(21) };',
      'export default 7;',
    );

    const { exports, files } = await loadModule(main);

    expect(exports).toMatchObject({ shape: { a: 42 }, default: 7 });
    expect([...files].sort()).toEqual([helper, main].sort());
  });

  it('is loaded again when its text has changed', async () => {
    const main = await write('main.ts', 'export const value = 1;');
    await loadModule(main);
    await write('main.ts', 'export const value = 2;');

    expect((await loadModule(main)).exports['value']).toBe(2);
  });

  it('imports packages from where they stand, and the SDK also where none is installed', async () => {
    await write('node_modules/dep/package.json', '{"name":"dep","type":"module","exports":"./index.js"}');
    await write('node_modules/dep/index.js', 'export const url = import.meta.url;');
    const main = await write(
      'main.ts',
      "import { createClient } from '@weft/sdk';",
      "import { url } from 'dep';",
      "import { sep } from 'node:path';",
      'export const found = [typeof createClient, url, sep];',
    );

    expect((await loadModule(main)).exports['found']).toEqual([
      'function',
      pathToFileURL(join(folder, 'node_modules/dep/index.js')).href,
      '/',
    ]);
  });

  it('knows the place of each of its files', async () => {
    await write('lib/here.ts', 'export const here = [import.meta.url, import.meta.dirname];');
    const main = await write(
      'main.ts',
      "import { here } from './lib/here.ts';",
      'export const places = [...here, import.meta.filename];',
    );

    const file = join(folder, 'lib/here.ts');
    expect((await loadModule(main)).exports['places']).toEqual([
      pathToFileURL(file).href,
      dirname(file),
      main,
    ]);
  });

  it('that cannot be built is refused with every place', async () => {
    const main = await write(
      'main.ts',
      "import { x } from './missing.ts';",
      "import nothing from 'no-such-package';",
      'export const y = x + nothing;',
    );

    const { problems, message, exitCode } = await failure(main);

    expect(exitCode).toBe(1);
    expect(problems.map(({ file, line, column }) => [file, line, column])).toEqual([
      [main, 1, 19],
      [main, 2, 21],
    ]);
    expect(message).toContain(`${main}:1:19: Could not resolve "./missing.ts"\n  import { x }`);
  });

  it('with a mistake in its syntax is refused with the place', async () => {
    const main = await write('main.ts', 'const a = 1;', 'const b = ;');

    expect((await failure(main)).problems).toMatchObject([{ file: main, line: 2, column: 11 }]);
  });

  it('that throws is refused with the place in the file as it was written', async () => {
    const helper = await write(
      'helper.ts',
      'interface Unused { a: 1 }',
      'export function fail(): never {',
      "  throw new TypeError('not today');",
      '}',
    );
    const main = await write('main.ts', "import { fail } from './helper.ts';", 'fail();');

    const { problems } = await failure(main);

    expect(problems).toMatchObject([{ file: helper, line: 3, message: 'TypeError: not today' }]);
  });

  it('that does not exist is refused by name', async () => {
    expect((await failure(join(folder, 'none.ts'))).message).toContain('none.ts');
  });
});
