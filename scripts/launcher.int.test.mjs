import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './bootstrap.mjs';

/** `./weft`, as a person in a clone types it. */

const LAUNCHER = './weft';
const folder = mkdtempSync(join(tmpdir(), 'weft-launcher-'));
const data = join(folder, 'data');
let host;
let banner = '';

const weft = (args, options = {}) => spawnSync(LAUNCHER, args, { cwd: ROOT, encoding: 'utf8', ...options });

beforeAll(async () => {
  host = spawn(LAUNCHER, ['serve', '--port', '0', '--data', data], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const chunk of host.stdout) {
    banner += chunk;
    if (banner.includes('Ctrl-C')) break;
  }
});

afterAll(async () => {
  if (host.exitCode === null && host.signalCode === null) {
    host.kill('SIGKILL');
    await once(host, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

describe('the launcher of a clone', () => {
  it('says nothing of its own when nothing is stale', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'packages/cli/package.json'), 'utf8'));

    expect(weft(['--version'])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('passes arguments, stdin and the exit code', () => {
    const kept = weft(['secrets', 'set', 'mine', '--data', data], { input: 'of no one' });
    const listed = weft(['secrets', 'ls', '--json', '--data', data]);
    const refused = weft(['two words']);

    expect(kept).toMatchObject({ status: 0 });
    expect(listed.stdout).toContain('"mine"');
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('"two words"') });
  });

  it('is named in what the host says to try', () => {
    expect(banner).toContain('\n  ./weft runs ls\n');
    expect(banner).not.toContain('npx');
  });

  it('is named by the way to it from elsewhere', () => {
    const { stderr } = spawnSync(join('..', LAUNCHER), ['rnu'], {
      cwd: join(ROOT, 'docs'),
      encoding: 'utf8',
    });

    expect(stderr).toBe('Unknown command "rnu". Did you mean: ../weft run\n');
  });

  it('can be linked to from a folder of the PATH, and is then named so', () => {
    symlinkSync(join(ROOT, 'weft'), join(folder, 'weft'));
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };

    const { stderr } = spawnSync(basename(LAUNCHER), ['rnu'], { cwd: folder, encoding: 'utf8', env });

    expect(stderr).toBe('Unknown command "rnu". Did you mean: weft run\n');
  });

  it('passes signals', async () => {
    host.kill('SIGTERM');

    expect(await once(host, 'exit')).toEqual([0, null]);
  });
});
