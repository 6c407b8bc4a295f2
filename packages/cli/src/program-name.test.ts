import { describe, expect, it } from 'vitest';
import { weft } from './commands/weft.ts';
import { PLAIN } from './output/style.ts';
import type { Command } from './parsing/command.ts';
import { groupHelp, leafHelp } from './parsing/help.ts';
import { asTypedHere, PROGRAM, programNameIn, type Surroundings } from './program-name.ts';

/** Paths that exist, and where they lead. */
const files = (paths: Record<string, string>) => (path: string) => paths[path];

const CLONE = {
  packageFolder: '/home/ada/weft/packages/cli',
  cwd: '/home/ada/weft',
  searchPath: '/usr/bin:/home/ada/weft/node_modules/.bin',
  realPath: files({
    '/home/ada/weft/weft': '/home/ada/weft/weft',
    '/home/ada/weft/node_modules/.bin/weft': '/home/ada/weft/packages/cli/bin/weft.mjs',
  }),
} satisfies Surroundings;

const INSTALLED = {
  packageFolder: '/home/ada/shop/node_modules/@weft/cli',
  cwd: '/home/ada/shop',
  searchPath: '/home/ada/shop/node_modules/.bin:/usr/bin',
  realPath: files({
    '/home/ada/shop/node_modules/.bin/weft': '/home/ada/shop/node_modules/@weft/cli/bin/weft.mjs',
    // Someone else's package of that name.
    '/home/ada/shop/node_modules/weft': '/home/ada/shop/node_modules/weft',
  }),
} satisfies Surroundings;

describe('the name of the program', () => {
  it('is the launcher in a clone, from any of its folders', () => {
    expect(programNameIn(CLONE)).toBe('./weft');
    expect(programNameIn({ ...CLONE, cwd: '/home/ada/weft/docs/guide' })).toBe('../../weft');
    expect(programNameIn({ ...CLONE, cwd: '/home/ada' })).toBe('/home/ada/weft/weft');
  });

  it('can be pasted into a shell, whatever the folder of the clone is called', () => {
    const elsewhere = {
      ...CLONE,
      packageFolder: '/home/ada/my code/packages/cli',
      realPath: files({ '/home/ada/my code/weft': '/home/ada/my code/weft' }),
    };

    expect(programNameIn(elsewhere)).toBe("'/home/ada/my code/weft'");
  });

  it('is the one of the registry in an installation, next to the package of a stranger, too', () => {
    expect(programNameIn(INSTALLED)).toBe('npx @weft/cli');
  });

  it.each([
    [
      'an installation for the whole machine',
      '/usr/lib/node_modules/@weft/cli',
      '/usr/lib/node_modules/@weft/cli/bin/weft.mjs',
    ],
    ['a link to the launcher of a clone', '/opt/weft/packages/cli', '/opt/weft/weft'],
  ])('is weft where the shell finds %s by that name', (_how, packageFolder, target) => {
    const surroundings = {
      ...CLONE,
      packageFolder,
      realPath: files({ '/usr/bin/weft': target, '/opt/weft/weft': '/opt/weft/weft' }),
    };

    expect(programNameIn(surroundings)).toBe('weft');
  });

  it('is not weft where the shell finds another program by that name', () => {
    const realPath = files({
      '/usr/bin/weft': '/usr/bin/weft',
      '/home/ada/weft/weft': '/home/ada/weft/weft',
    });

    expect(programNameIn({ ...CLONE, realPath })).toBe('./weft');
    expect(programNameIn({ ...INSTALLED, realPath })).toBe('npx @weft/cli');
  });
});

describe('our words about our commands', () => {
  it('name them as they are typed here', () => {
    expect(asTypedHere('See: weft runs ls, or weft doctor', 'npx @weft/cli')).toBe(
      'See: npx @weft/cli runs ls, or npx @weft/cli doctor',
    );
    expect(asTypedHere('WEFT_STORE=postgres://weft@db/weft weft serve', './weft')).toBe(
      'WEFT_STORE=postgres://weft@db/weft ./weft serve',
    );
  });

  it('stay as they are where they name them so already', () => {
    for (const program of ['./weft', '../weft', '/opt/weft', 'npx @weft/cli', 'weft'])
      expect(asTypedHere(`${program} runs ls`, program)).toBe(`${program} runs ls`);
  });

  it('do so in the help of every command', () => {
    const helps = [...commandsBelow('weft', weft)].map(([path, command]) =>
      command.kind === 'group' ? groupHelp(PLAIN, path, command) : leafHelp(PLAIN, path, command),
    );

    expect(helps.length).toBeGreaterThan(60);
    for (const help of helps) {
      // The heading says which command it is, not what to type.
      const [, ...lines] = help.split('\n');
      expect(lines.join('\n')).toContain(`\n  ${PROGRAM} `);
      expect(asTypedHere(lines.join('\n'))).toBe(lines.join('\n'));
    }
  });
});

function* commandsBelow(path: string, command: Command): Generator<[string, Command]> {
  yield [path, command];
  if (command.kind === 'group')
    for (const child of command.commands) yield* commandsBelow(`${path} ${child.name}`, child);
}
