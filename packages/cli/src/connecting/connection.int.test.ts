import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../testing/host-process.ts';
import { weft } from '../testing/served.ts';

let cwd: string;
const open: Server[] = [];

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'weft-connect-'));
});

afterEach(async () => {
  for (const server of open.splice(0)) await new Promise((resolve) => server.close(resolve));
  await rm(cwd, { recursive: true, force: true });
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const KEY = { WEFT_API_KEY: 'weft_live_0123456789abcdef' };

const json =
  (status: number, body: unknown): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const COMMANDS = [
  ['runs', 'ls'],
  ['runs', 'show', 'RUN'],
  ['run', 'reminder', '--input', 'delayMs=1'],
  ['workflows', 'ls'],
  ['diff', 'RUN', 'OTHER'],
  ['inbox'],
];

describe('a server that is no host', () => {
  it.each<[string, RequestListener]>([
    ['answers with a page', (_, response) => response.end('<html>hello</html>')],
    ['answers with an empty object', json(200, {})],
    ['answers with null', json(200, null)],
    ['answers with nothing', (_, response) => response.writeHead(204).end()],
    [
      'knows none of the paths',
      json(404, { statusCode: 404, error: 'Not Found', message: 'Route not found' }),
    ],
    ['wants a login', (_, response) => response.writeHead(401).end('Unauthorized')],
  ])('that %s is said to be none, in one sentence, and gets no key', async (_, answer) => {
    const keys: (string | undefined)[] = [];
    const url = await listening(
      createServer((request, response) => {
        keys.push(request.headers.authorization);
        return answer(request, response);
      }),
    );

    for (const command of COMMANDS) {
      const { code, out, err } = await weft(cwd, [...command, '--url', url], KEY);

      expect({ code, out, lines: err.trim().split('\n').length }).toEqual({ code: 3, out: '', lines: 1 });
      expect(err).toContain(`${url} is not an OpenWOP host`);
      expect(err).toContain('--url');
    }
    expect(keys.filter((key) => key !== undefined)).toEqual([]);
  });

  it('that does not speak HTTP is said to be none', async () => {
    const url = await listening(
      createSocketServer(
        (socket) =>
          void socket
            .on('error', () => undefined)
            .write('SSH-2.0-OpenSSH_9.6\r\n', () => socket.destroySoon()),
      ),
    );

    const { code, err } = await weft(cwd, ['runs', 'ls', '--url', url], KEY);

    expect(code).toBe(3);
    expect(err).toContain('does not speak HTTP');
    expect(err).not.toContain('    at ');
  });

  it('is found by the doctor', async () => {
    const url = await listening(createServer(json(200, {})));

    const { code, out } = await weft(cwd, ['doctor', '--url', url], KEY);

    expect(code).toBe(1);
    expect(out).toMatch(/wrong +host: .*\n +.*is not an OpenWOP host/);
  });
});

describe('a host that does not answer', () => {
  it('is looked for where the person can name another', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;

    const flagged = await weft(cwd, ['runs', 'ls', '--url', url]);
    const named = await weft(cwd, ['runs', 'ls'], { WEFT_URL: url });

    for (const { code, err } of [flagged, named]) {
      expect(code).toBe(3);
      for (const way of ['weft serve', '--url', 'WEFT_URL', '--data', 'WEFT_DATA'])
        expect(err).toContain(way);
    }
    expect(flagged.err).toContain(`No host answers at ${url} (from --url)`);
    expect(named.err).toContain('(from WEFT_URL)');
  });

  it('and has left its url file was killed, which the message says', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    await mkdir(join(cwd, '.weft'));
    await writeFile(join(cwd, '.weft', 'url'), `${url}\n`);

    const { code, err } = await weft(cwd, ['runs', 'ls']);

    expect(code).toBe(3);
    expect(err).toContain(`No host answers at ${url}`);
    expect(err).toContain(`the host of ${join(cwd, '.weft')} was killed or has crashed`);
    expect(err).toContain('weft serve --data');
  });
});
