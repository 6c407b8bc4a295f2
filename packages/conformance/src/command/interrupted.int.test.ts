import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runCommand } from '../testing/run-command.ts';

/** A host that says who it is and then answers nothing any more. */
const HANGING_HOST = `
const { createServer } = require('node:http');
const { writeFileSync } = require('node:fs');
const [port, folder] = process.argv.slice(2);
let asked = 0;
createServer((request, response) => {
  if (request.url === '/.well-known/openwop') return response.end('{"protocolVersion":"1.0"}');
  asked += 1;
  if (asked === 1) return response.writeHead(404).end('{}');
  writeFileSync(folder + '/asked', String(process.pid));
}).listen(Number(port), '127.0.0.1');
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-interrupted-'));
  await writeFile(join(folder, 'host.cjs'), HANGING_HOST);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('Ctrl-C ends what the suite has started, and says that it did not finish', async () => {
  let interrupt: () => void = () => undefined;
  const launch = `${process.execPath} ${join(folder, 'host.cjs')} {port} ${folder}`;
  const running = runCommand({ launch, 'webhook-port': String(await freePort()) }, {}, (listener) => {
    interrupt = listener;
    return () => undefined;
  });
  await vi.waitFor(() => expect(existsSync(join(folder, 'asked'))).toBe(true), { timeout: 30_000 });

  interrupt();
  const { exit, err } = await running;

  expect(exit).toBe(3);
  expect(err).toContain('Interrupted: the suite did not run to its end.');
  const host = Number(readFileSync(join(folder, 'asked'), 'utf8'));
  await vi.waitFor(() => expect(() => process.kill(host, 0)).toThrow(/ESRCH/), { timeout: 10_000 });
}, 60_000);

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
