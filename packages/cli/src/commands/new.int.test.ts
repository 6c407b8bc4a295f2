import { spawn } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../testing/host-process.ts';
import { weft } from '../testing/served.ts';

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-new-')));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
}

function run(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn('npm', args, {
    cwd: join(folder, 'demo'),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (out += text.toString('utf8')));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out })));
}

describe('weft new', () => {
  it('makes a project whose test passes and whose function runs, each with one command', async () => {
    const made = await weft(folder, ['new', 'demo'], { PATH: process.env['PATH'] ?? '' });
    const port = await freePort();
    const host = spawn('npm', ['start', '--', '--port', String(port)], {
      cwd: join(folder, 'demo'),
      env: { ...process.env, WEFT_API_KEY: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let said = '';
    host.stdout.on('data', (text: Buffer) => (said += text.toString('utf8')));
    try {
      const tested = await run(['test']);
      for (let looks = 0; looks < 600 && !said.includes('is listening at'); looks += 1) await pause(50);
      const ran = await run([
        'exec',
        '--',
        'weft',
        'run',
        'hello',
        '--input',
        'name=Ada',
        '--watch',
        '--url',
        `http://127.0.0.1:${port}`,
      ]);

      expect(made).toMatchObject({ code: 0, out: expect.stringContaining('cd demo && npm start') });
      expect(tested).toMatchObject({ code: 0, out: expect.stringContaining('# pass 2') });
      expect(said).toMatch(/nodes +demo\.greet@1\.0\.0/);
      expect(said).toContain('run hello --watch');
      expect(ran.out).toContain('Hello, Ada!');
    } finally {
      // npm does not pass every signal on.
      process.kill(-(host.pid ?? 0), 'SIGKILL');
    }
  });

  it('names the packages of the clone that it is run from', async () => {
    await weft(folder, ['new', 'My Demo', '--no-install']);

    const manifest: unknown = JSON.parse(await readFile(join(folder, 'My Demo/package.json'), 'utf8'));

    expect(manifest).toMatchObject({
      name: 'my-demo',
      dependencies: {
        '@weft/cli': expect.stringMatching(/^file:.*packages\/cli$/),
        '@weft/sdk': expect.stringMatching(/^file:.*packages\/sdk$/),
      },
    });
  });

  it('refuses a folder with something in it', async () => {
    await writeFile(join(folder, 'kept'), 'as it was');

    const refused = await weft(folder, ['new', '.', '--no-install']);

    expect(refused).toMatchObject({ code: 4, err: expect.stringContaining('is not empty') });
    expect(await readFile(join(folder, 'kept'), 'utf8')).toBe('as it was');
  });
});
