import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Command } from './parsing/command.ts';
import { weft } from './commands/weft.ts';
import { main } from './main.ts';
import { PROGRAM } from './program-name.ts';
import { recordedIo } from './testing/recorded-io.ts';
import { VERSION } from './version.ts';

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = recordedIo({ cwd: '/nowhere' });
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err() };
}

describe('the command line', () => {
  it('prints its version, which is that of the package', async () => {
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };

    expect(await run('--version')).toEqual({ code: 0, out: `${manifest.version}\n`, err: '' });
    expect(VERSION).toBe(manifest.version);
  });

  it('suggests the closest command and exits with 2', async () => {
    const first = await run('sevre');
    const second = await run('runs', 'lst');

    expect(first).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(`Did you mean: ${PROGRAM} serve`),
    });
    expect(second).toMatchObject({
      code: 2,
      err: expect.stringContaining(`Did you mean: ${PROGRAM} runs ls`),
    });
    expect((await run('show', 'RUN')).err).toContain(`Did you mean: ${PROGRAM} runs show`);
  });

  it('explains itself with help, as it does with --help', async () => {
    for (const words of [[], ['runs'], ['runs', 'show'], ['keys', 'rotate', 'links']]) {
      const asked = await run('help', ...words);

      expect(asked).toEqual(await run(...words, '--help'));
      expect(asked.code).toBe(0);
    }
    expect(await run('runs', 'help')).toEqual(await run('runs', '--help'));
    expect(await run('help', 'rnus')).toMatchObject({
      code: 2,
      err: expect.stringContaining(`Did you mean: ${PROGRAM} help runs`),
    });
  });

  it('refuses unknown flags with the closest one', async () => {
    const result = await run('runs', 'ls', '--statsu', 'failed');

    expect(result).toEqual({ code: 2, out: '', err: 'Unknown flag --statsu. Did you mean --status?\n' });
    expect((await run('run', 'w', '--config', 'a=1')).err).toContain('given with --set');
  });

  it('refuses a flag without its value, a switch with one, and unknown arguments', async () => {
    expect((await run('runs', 'ls', '--limit')).err).toBe('--limit needs a value.\n');
    expect((await run('runs', 'ls', '--limit', '--tag')).err).toContain(
      '--limit needs a value; if it is "--tag"',
    );
    expect((await run('runs', 'ls', '--json=yes')).err).toContain('--json takes no value.');
    expect((await run('runs', 'show', 'a', 'b')).err).toContain('weft runs show does not take "b"');
    expect((await run('runs', 'show')).err).toContain(
      `${PROGRAM} runs show needs RUN. Example: ${PROGRAM} runs show RUN`,
    );
    expect((await run('keys', 'create', 'x', '--kind', 'robot')).err).toContain('one of service, user');
  });

  it('refuses wrong values before it talks to a host', async () => {
    expect(await run('runs', 'ls', '--limit', '0')).toMatchObject({ code: 2 });
    expect((await run('runs', 'ls', '--status', 'complete')).err).toContain('Did you mean completed?');
    expect((await run('runs', 'ls', '--since', 'soon')).err).toContain('--since takes a time');
    expect((await run('runs', 'cancel')).err).toContain('needs run ids or a filter');
  });

  it('shows what there is when nothing was asked, on stderr, as wrong usage', async () => {
    const result = await run();

    expect(result.code).toBe(2);
    expect(result.out).toBe('');
    expect(result.err).toContain('workflows');
  });

  it('refuses a URL that is none', async () => {
    expect(await run('runs', 'ls', '--url', 'localhost:7878')).toMatchObject({ code: 2 });
  });
});

function leaves(command: Command, path: string): string[] {
  if (command.kind === 'leaf') return [path];
  return command.commands.flatMap((child) => leaves(child, `${path} ${child.name}`));
}

describe('--help', () => {
  const paths = leaves(weft, 'weft');

  it.each(paths)('of "%s" shows flags, examples and exit codes', async (path) => {
    const result = await run(...path.split(' ').slice(1), '--help');

    expect(result.code).toBe(0);
    expect(result.err).toBe('');
    expect(result.out).toContain('--json');
    expect(result.out).toMatch(new RegExp(`Examples\\n(.*\\n)*  .*${path}`));
    expect(result.out).toContain('Exit codes:');
  });

  it('of a noun lists its verbs', async () => {
    const result = await run('runs', '--help');

    expect(result.code).toBe(0);
    for (const verb of ['ls', 'show', 'events', 'cancel', 'pause', 'resume', 'why'])
      expect(result.out).toContain(verb);
  });
});
