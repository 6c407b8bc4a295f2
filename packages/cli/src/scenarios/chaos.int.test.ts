import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';

/** The short run of the chaos command that is part of CI: its seed is fixed, so that a failure can be looked at again. */

const COMMAND = new URL('../../../bench/dist/chaos/main.js', import.meta.url).pathname;
const LONGEST_MS = 240_000;
/** The rules about due times and delivery ids had something to look at. */
const STARTED_BY_THEMSELVES = /^ {2}S1 .* [1-9]\d*$[^]*^ {2}S6 .* [1-9]\d*$/m;

interface Ended {
  readonly code: number | null;
  readonly out: string;
}

function chaos(...flags: string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [COMMAND, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
    const timer = setTimeout(() => child.kill('SIGTERM'), LONGEST_MS);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve({ code, out });
    });
  });
}

it('a cluster of three under faults breaks no rule', { timeout: LONGEST_MS + 10_000 }, async () => {
  const { code, out } = await chaos('--minutes', '0.3', '--seed', '7');

  expect(out).toContain('seed 7: nothing found');
  expect(out).toMatch(STARTED_BY_THEMSELVES);
  expect(code).toBe(0);
});

it('one host on SQLite under faults breaks no rule', { timeout: LONGEST_MS + 10_000 }, async () => {
  const { code, out } = await chaos('--minutes', '0.15', '--seed', '7', '--store', 'sqlite');

  expect(out).toContain('seed 7: nothing found');
  expect(out).toMatch(STARTED_BY_THEMSELVES);
  expect(code).toBe(0);
});
