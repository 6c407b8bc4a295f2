import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Project, startProject } from '../testing/own-code.ts';

const FOLDER = new URL('../../../../examples/python-worker/', import.meta.url).pathname;
/** Where there is none, `npm test` says that this was not run. */
const PYTHONS = spawnSync('python3', ['--version']).status === 0 ? ['python3'] : [];
const STANDARD = [
  'concurrent.futures',
  'json',
  'os',
  'queue',
  'threading',
  'time',
  'urllib.error',
  'urllib.request',
];

let project: Project | undefined;

afterEach(() => project?.stop());

describe('the worker in Python', () => {
  it('needs nothing but the standard library', () => {
    const imported = ['weft_worker.py', 'main.py'].flatMap((file) =>
      [...readFileSync(join(FOLDER, file), 'utf8').matchAll(/^(?:import|from) ([\w.]+)/gm)].map(
        ([, name]) => name,
      ),
    );

    expect(new Set(imported)).toEqual(new Set([...STANDARD, 'weft_worker']));
  });

  it.each(PYTHONS)('performs tasks of a host, and its errors have their codes (%s)', async (python) => {
    project = await startProject({ files: {} });
    const { client, host, until, run, ended } = project;
    const child = spawn(python, ['-B', join(FOLDER, 'main.py')], {
      env: { ...process.env, WEFT_URL: host.url, WEFT_API_KEY: project.key },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await until(async () =>
        (await client.nodeTypes.list()).some(({ typeId }) => typeId === 'example.divide'),
      );

      const counted = await ended(await run('example.count-words', { text: 'one two  three' }));
      const divided = await ended(await run('example.divide', { a: 1, b: 4 }));
      const refused = await ended(await run('example.divide', { a: 1, b: 0 }));

      expect(counted).toMatchObject({ status: 'completed', outputs: { words: 3 } });
      expect(divided).toMatchObject({ status: 'completed', outputs: { quotient: 0.25 } });
      expect(refused).toMatchObject({
        status: 'failed',
        error: { code: 'division_by_zero', message: 'b is 0' },
      });
    } finally {
      child.kill('SIGKILL');
    }
  });
});
