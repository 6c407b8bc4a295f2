import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, tool } from '../bootstrap.mjs';
import { readPage } from './markdown.mjs';

/** The programs in the pages about the SDK, as readers would copy them: compiled with types, then run against a host with the samples. */

const EXAMPLES = ['docs/guide/sdk.md', 'packages/sdk/README.md'].flatMap((page) =>
  [...readPage(page).matchAll(/^```ts\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```$/gm)].map(
    ([, program, prints], index) => ({
      name: `${page} ${index + 1}`,
      file: `e${index}-${page.length}`,
      program,
      prints,
    }),
  ),
);

const folder = mkdtempSync(join(tmpdir(), 'weft-sdk-examples-'));
let host;
let url;

beforeAll(async () => {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'host'));
  const args = ['serve', '--port', '0', '--workflows', join(ROOT, 'examples/workflows')];
  host = spawn(process.execPath, [join(ROOT, 'packages/cli/bin/weft.mjs'), ...args], {
    cwd: join(folder, 'host'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  url = await new Promise((resolve, reject) => {
    let printed = '';
    host.once('exit', (code) => reject(new Error(`the host ended with ${code}: ${printed}`)));
    host.stdout.on('data', (chunk) => {
      printed += chunk;
      const found = /listening at (http:\S+)/.exec(printed);
      if (found !== null) resolve(found[1]);
    });
  });
}, 60_000);

afterAll(async () => {
  host.kill('SIGTERM');
  await once(host, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

function node(args, env = {}) {
  return spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  });
}

describe('the examples of the SDK', () => {
  it('all say what they print', () => {
    const blocks = readPage('docs/guide/sdk.md').match(/^```ts$/gm) ?? [];

    expect(EXAMPLES).toHaveLength(blocks.length + 1);
  });

  it('compile', () => {
    for (const { file, program } of EXAMPLES) writeFileSync(join(folder, `${file}.mts`), program);
    const flags = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', 'node'];

    const { stdout, stderr } = node([
      tool('typescript/bin/tsc'),
      ...flags,
      ...EXAMPLES.map(({ file }) => `${file}.mts`),
    ]);

    expect(stdout + stderr).toBe('');
  });

  it.each(EXAMPLES)('run: $name', ({ file, program, prints }) => {
    writeFileSync(join(folder, `${file}.mjs`), program);
    const apiKey = readFileSync(join(folder, 'host/.weft/key'), 'utf8').trim();

    const { stdout, stderr } = node([`${file}.mjs`], { WEFT_URL: url, WEFT_API_KEY: apiKey });

    expect(stderr).toBe('');
    expect(stdout).toBe(prints);
  });
});
