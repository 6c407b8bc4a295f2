import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const BIN = new URL('../../../bin/weft.mjs', import.meta.url).pathname;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-thread-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A host in a process of its own; `onWritten` gets all output so far, after each write. */
function serve(options: {
  flags?: readonly string[];
  env?: Record<string, string>;
  onWritten?: (written: string, signal: (name: NodeJS.Signals) => void) => void;
}): Promise<Ended> {
  const child = spawn(process.execPath, [BIN, 'serve', '--port', '0', ...(options.flags ?? [])], {
    cwd: folder,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { out: '', err: '' };
  const keep = (name: keyof typeof written) => (chunk: Buffer) => {
    written[name] += chunk.toString('utf8');
    options.onWritten?.(`${written.out}${written.err}`, (signal) => child.kill(signal));
  };
  child.stdout.on('data', keep('out'));
  child.stderr.on('data', keep('err'));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...written })));
}

/** Loaded by Node before the host, in every thread of its process. */
async function preload(text: string): Promise<Record<string, string>> {
  const file = join(folder, 'preload.cjs');
  await writeFile(file, `const threads = require('node:worker_threads');\n${text}`);
  return { NODE_OPTIONS: `--require ${file}` };
}

const LISTENING = 'Ctrl-C stops it';

describe('a host on a thread of its own', () => {
  it('stops on a signal, and the process ends with all its output and its exit code', async () => {
    let isSignalled = false;
    const ended = await serve({
      onWritten(written, signal) {
        if (isSignalled || !written.includes(LISTENING)) return;
        isSignalled = true;
        signal('SIGTERM');
      },
    });

    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('is listening at') });
    expect(ended.err).toContain('SIGTERM: stopping');
  });

  it('that cannot start says why, with the code for it', async () => {
    const ended = await serve({ flags: ['--store', 'mysql://nowhere'] });

    expect(ended).toMatchObject({ code: 2, out: '', err: expect.stringContaining('postgres://') });
  });

  it('has more room for young objects than Node gives', async () => {
    const env = await preload(`
      if (!threads.isMainThread) {
        require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'limits'))}, JSON.stringify(threads.resourceLimits));
      }`);

    await serve({ flags: ['--help'], env });

    const limits: unknown = JSON.parse(await readFile(join(folder, 'limits'), 'utf8'));
    expect(limits).toMatchObject({ maxYoungGenerationSizeMb: 192 });
  });

  it('that no longer reacts is ended by the second signal', async () => {
    const env = await preload(`
      if (!threads.isMainThread) setTimeout(() => {
        require('node:fs').writeSync(2, 'stuck');
        for (;;);
      }, 200);`);
    let signals = 0;
    const ended = await serve({
      env,
      onWritten(written, signal) {
        if (signals > 0 || !written.includes('stuck')) return;
        signals += 1;
        signal('SIGINT');
        signal('SIGTERM');
      },
    });

    expect(ended.code).toBe(1);
  });

  it('that stands still is ended, so that it can be started again', async () => {
    const env = await preload(`
      if (!threads.isMainThread) setTimeout(() => { for (;;); }, 3_000);`);

    const ended = await serve({ env: { ...env, WEFT_WATCHDOG_MS: '2000' } });

    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('has been blocked for 2 s') });
  });

  it('that breaks ends the process with the error and a code', async () => {
    const env = await preload(`
      if (!threads.isMainThread) setTimeout(() => { throw new Error('broken by the test'); }, 200);`);

    const ended = await serve({ env });

    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('Error: broken by the test') });
  });
});
