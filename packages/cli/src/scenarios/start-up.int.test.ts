import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const BIN = new URL('../../bin/weft.mjs', import.meta.url).pathname;

/** Prints the address of every module that is loaded after it. */
const HOOK = `data:text/javascript,${encodeURIComponent(`
  import { register } from 'node:module';
  register('data:text/javascript,' + encodeURIComponent(\`
    import { writeSync } from 'node:fs';
    export async function resolve(specifier, context, next) {
      const found = await next(specifier, context);
      writeSync(2, found.url + '\\\\n');
      return found;
    }\`));`)}`;

function modulesOf(...argv: string[]): Promise<readonly string[]> {
  const child = spawn(process.execPath, ['--import', HOOK, BIN, ...argv], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let written = '';
  child.stderr.on('data', (chunk: Buffer) => (written += chunk.toString('utf8')));
  return new Promise((resolve) => child.once('close', () => resolve(written.split('\n'))));
}

describe('a command that only asks a host something', () => {
  it.each([['--version'], ['runs', 'ls', '--help'], ['evidence', 'diff', '--help']])(
    'starts without the schemas, the engine and the store (%s %s)',
    async (...argv) => {
      const modules = await modulesOf(...argv);

      const heavy =
        /\/(typebox|ajv|undici|fastify|@photostructure)\/|\/(engine|server|storage)\/dist\/index\.js$/;
      expect(modules.some((url) => url.endsWith('/cli/dist/main.js'))).toBe(true);
      expect(modules.filter((url) => heavy.test(url))).toEqual([]);
    },
  );
});

describe('a host', () => {
  it.each([
    [[], false],
    [['--conformance'], true],
  ])('started with %j loads the fixtures, mocks and probes of suites: %s', async (flags, isLoaded) => {
    // Its port is taken, so it ends when it has everything else.
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const port = String((taken.address() as AddressInfo).port);
    const folder = await mkdtemp(join(tmpdir(), 'weft-start-up-'));

    const modules = await modulesOf('serve', '--port', port, '--data', folder, ...flags);
    taken.close();
    await rm(folder, { recursive: true, force: true });

    expect(modules.some((url) => url.endsWith('/server/dist/index.js'))).toBe(true);
    expect(modules.some((url) => url.includes('/conformance/dist/fixtures/'))).toBe(isLoaded);
    expect(modules.some((url) => url.includes('/engine/dist/conformance/'))).toBe(isLoaded);
    expect(
      modules.filter((url) => /\/(@grpc|protobufjs|grpc-health-check)\/|\/server\/dist\/grpc\//.test(url)),
    ).toEqual([]);
  });
});
