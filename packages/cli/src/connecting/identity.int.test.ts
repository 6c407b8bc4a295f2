import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serveHere, weft } from '../testing/served.ts';

let cwd: string;
let served: Served;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'weft-identity-'));
  served = await serveHere(cwd);
});
afterAll(async () => {
  await served.stop();
  await rm(cwd, { recursive: true, force: true });
});

const inFolder = (name: string): string => join(cwd, '.weft', name);

/** Another program, and all that it received. */
interface Impostor {
  readonly url: string;
  readonly heard: { readonly path: string; readonly authorization: string | undefined }[];
}

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

async function openImpostor(answer: Answering, port = 0, address = '127.0.0.1'): Promise<Impostor> {
  const heard: Impostor['heard'] = [];
  const server = createServer((request, response) => {
    heard.push({ path: request.url ?? '', authorization: request.headers.authorization });
    answer(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, address, resolve);
  });
  open.push(server);
  return { url: `http://${address}:${(server.address() as AddressInfo).port}`, heard };
}

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Passes everything on to the host, as a man in the middle does. */
const relay: Answering = (request, response) => {
  void fetch(`${served.url}${request.url ?? ''}`).then(async (answer) =>
    json(response, answer.status, await answer.json()),
  );
};

describe('the local key', () => {
  it('is sent to the host of the folder, by whatever name it is reached', async () => {
    const { port } = new URL(served.url);

    for (const url of [served.url, `http://localhost:${port}`, `http://127.0.0.1:${port}/`])
      expect(await weft(cwd, ['runs', 'ls', '--url', url])).toMatchObject({ code: 0 });
    expect(await weft(cwd, ['runs', 'ls'])).toMatchObject({ code: 0 });
    expect(await weft(cwd, ['doctor', '--json'])).toMatchObject({ code: 0 });
  });

  it.each<[string, Answering]>([
    ['passes the question on to the host', relay],
    ['makes a proof up', (_request, response) => json(response, 200, { hmac: 'x'.repeat(43) })],
    ['proves nothing', (_request, response) => json(response, 200, {})],
    ['does not know the question', (_request, response) => json(response, 404, { error: 'not_found' })],
    ['speaks another language', (_request, response) => response.end('<html>')],
    ['leads elsewhere', (_request, response) => response.writeHead(302, { location: served.url }).end()],
    ['answers without end', (_request, response) => response.end('x'.repeat(1_000_000))],
    [
      'breaks off',
      (_request, response) =>
        response.writeHead(200, { 'content-length': 100 }).write('{"hm', () => response.destroy()),
    ],
  ])('is kept from a program that %s', async (_, answer) => {
    const impostor = await openImpostor(answer);

    const { code, out, err } = await weft(cwd, ['runs', 'ls', '--url', impostor.url]);

    expect([code, out]).toEqual([3, '']);
    expect(err).toContain(`${impostor.url} did not prove that it is the host of ${join(cwd, '.weft')}`);
    expect(err).toContain('WEFT_API_KEY=$(cat');
    expect(impostor.heard.map(({ authorization }) => authorization)).toEqual([undefined]);
    expect(impostor.heard[0]?.path).toMatch(/^\/v1\/host\/weft\/identity\?nonce=[\w-]{32}$/);
  });

  it('is kept from one that took the other address of the same port (K-7)', async () => {
    const { port } = new URL(served.url);
    const impostor = await openImpostor(relay, Number(port), '127.0.0.2');

    const { code } = await weft(cwd, ['runs', 'ls', '--url', impostor.url]);

    expect(code).toBe(3);
    expect(impostor.heard.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  it('is kept from one that took the port after the host had stopped, also by a client that still follows a run (K-8)', async () => {
    const other = await mkdtemp(join(tmpdir(), 'weft-identity-'));
    await writeFile(
      join(other, 'wait.json'),
      JSON.stringify({
        id: 'wait',
        name: 'wait',
        version: '1',
        nodes: [
          {
            id: 'gate',
            typeId: 'core.approvalGate',
            name: 'gate',
            position: { x: 0, y: 0 },
            config: {},
            inputs: {},
          },
        ],
        edges: [],
        triggers: [],
        variables: [],
        metadata: {},
        settings: {},
      }),
    );
    const host = await serveHere(other, ['--workflows', '.']);
    const { out } = await weft(other, ['run', 'wait', '--json']);
    const { runId } = JSON.parse(out) as { runId: string };
    const following = weft(other, ['runs', 'events', runId, '--follow', '--url', host.url]);
    await weft(other, ['runs', 'why', runId]);

    await host.stop();
    const impostor = await openImpostor(
      (_request, response) => json(response, 200, {}),
      Number(new URL(host.url).port),
    );
    const asked = await weft(other, ['runs', 'ls', '--url', host.url]);

    expect(asked.code).toBe(3);
    expect(await following).toMatchObject({ code: 3, err: expect.stringContaining('did not prove') });
    expect(impostor.heard.length).toBeGreaterThan(1);
    expect(impostor.heard.every(({ authorization }) => authorization === undefined)).toBe(true);
    await rm(other, { recursive: true, force: true });
  });

  it('that a person gives is sent as they say', async () => {
    const impostor = await openImpostor((_request, response) =>
      json(response, 200, { protocolVersion: '1.0', runs: [] }),
    );

    const { code } = await weft(cwd, ['runs', 'ls', '--url', impostor.url], { WEFT_API_KEY: 'given' });

    expect(code).toBe(0);
    expect(impostor.heard.map(({ authorization }) => authorization)).toEqual([undefined, 'Bearer given']);
  });

  it('stays where it is when the host of the folder has left no identity', async () => {
    const identity = await readFile(inFolder('identity'), 'utf8');
    await rm(inFolder('identity'));

    const { code, err } = await weft(cwd, ['runs', 'ls']);
    const doctor = await weft(cwd, ['doctor']);
    await writeFile(inFolder('identity'), identity, { mode: 0o600 });

    expect(code).toBe(3);
    expect(err).toContain('cannot be identified. Start it again');
    expect(doctor).toMatchObject({ code: 1, out: expect.stringContaining('cannot be identified') });
  });
});

describe('a key file', () => {
  it('is made for its owner alone', async () => {
    for (const name of ['key', 'identity', 'secrets.key', 'audit.key'])
      expect((await stat(inFolder(name))).mode & 0o777, name).toBe(0o600);
  });

  it.each([
    ['key', 0o644],
    ['key', 0o620],
    ['key', 0o602],
    ['identity', 0o640],
  ])('that others may touch is not used by the command line: %s with %o', async (name, mode) => {
    await chmod(inFolder(name), mode);

    const { code, err } = await weft(cwd, ['runs', 'ls']);
    const doctor = await weft(cwd, ['doctor']);
    await chmod(inFolder(name), 0o600);

    expect(code).toBe(name === 'key' ? 4 : 3);
    expect(err).toContain(
      `${inFolder(name)} is accessible to other users (mode 0${mode.toString(8)}). Fix it with: chmod 600 ${inFolder(name)}`,
    );
    expect(doctor.code).toBe(1);
    expect(doctor.out).toContain('chmod 600');
  });

  it.each(['key', 'identity', 'secrets.key', 'audit.key'])(
    'that others may read is not used by a host: %s',
    async (name) => {
      const folder = await mkdtemp(join(tmpdir(), 'weft-open-'));
      await (await serveHere(folder)).stop();
      await chmod(join(folder, '.weft', name), 0o644);

      const { code, err } = await weft(folder, ['serve', '--port', '0']);
      await rm(folder, { recursive: true, force: true });

      expect(code).toBe(4);
      expect(err).toContain('chmod 600');
    },
  );
});
