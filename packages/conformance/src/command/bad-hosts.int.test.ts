import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startMinimalHost } from '../testing/minimal-host.ts';
import { runCommand } from '../testing/run-command.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const DISCOVERY = {
  protocolVersion: '1.0',
  supportedEnvelopes: [],
  schemaVersions: {},
  limits: { clarificationRounds: 0, schemaRounds: 0, envelopesPerTurn: 0 },
  fixtures: ['conformance-noop'],
};

async function httpHost(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return urlOf(server.address());
}

async function tcpHost(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  return urlOf(server.address());
}

function urlOf(address: ReturnType<ReturnType<typeof createServer>['address']>): string {
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

const KEY = { WEFT_API_KEY: 'any' };

describe('something that is no host', () => {
  it('is recognized when nothing listens', async () => {
    const url = await httpHost(() => undefined);
    await cleanups.pop()?.();

    const { exit, err, out } = await runCommand({ url }, KEY);

    expect(exit).toBe(3);
    expect(err).toMatch(/^No OpenWOP host at http.*no connection \(ECONNREFUSED\)\.\n$/);
    expect(out).toBe('');
  });

  it('is recognized when it is another web server', async () => {
    const url = await httpHost((_, response) => response.end('<h1>It works</h1>'));

    const { exit, err } = await runCommand({ url }, KEY);

    expect(exit).toBe(3);
    expect(err).toContain('answers, but not as an OpenWOP host');
  });

  it('is recognized when it does not speak HTTP', async () => {
    const url = await tcpHost((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));

    const { exit, err } = await runCommand({ url }, KEY);

    expect(exit).toBe(3);
    expect(err).toContain('the answer broke off or is not HTTP');
  });

  it('is recognized when it redirects, and is not followed', async () => {
    let followed = 0;
    const elsewhere = await httpHost((_, response) => {
      followed += 1;
      response.end('{}');
    });
    const url = await httpHost((_, response) => response.writeHead(302, { location: elsewhere }).end());

    const { exit, err } = await runCommand({ url }, KEY);

    expect(exit).toBe(3);
    expect(err).toContain(`redirects to ${elsewhere}`);
    expect(followed).toBe(0);
  });

  it('is recognized when it lies about its length', async () => {
    const url = await tcpHost((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{}')),
    );

    const { exit, err } = await runCommand({ url }, KEY);

    expect(exit).toBe(3);
    expect(err).toContain('broke off');
  });

  it('is recognized when it hangs', async () => {
    const url = await httpHost(() => undefined);

    const { exit, err } = await runCommand({ url, timeout: '1' }, KEY);

    expect(exit).toBe(3);
    expect(err).toContain('no answer in time');
  });

  it('does not drive the terminal', async () => {
    const url = await httpHost((_, response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:9/%1b[2J' }).end(),
    );

    const { err } = await runCommand({ url }, KEY);

    expect(err).not.toContain('\u001b');
  });
});

describe('a host that takes no key of ours', () => {
  it('is not tested, and the key is said to be wrong before anything else', async () => {
    const host = await startMinimalHost();
    cleanups.push(() => host.stop());

    const { exit, err, out } = await runCommand({ url: host.url }, { WEFT_API_KEY: 'wrong' });

    expect(exit).toBe(3);
    expect(err).toBe(
      `The host at ${host.url} refuses the key (401). Give one that may create and read runs.\n`,
    );
    expect(out).toBe('');
  });

  it('is not tested without a key', async () => {
    const host = await startMinimalHost();
    cleanups.push(() => host.stop());

    const { exit, err } = await runCommand({ url: host.url });

    expect(exit).toBe(3);
    expect(err).toContain('--key-file');
  });
});

describe('a host that is broken inside', () => {
  it('and answers everything but discovery with garbage fails, with an answer for every requirement', async () => {
    const url = await httpHost((request, response) => {
      if (request.url === '/.well-known/openwop') return void response.end(JSON.stringify(DISCOVERY));
      response.writeHead(200, { 'content-type': 'application/json' }).end('\u0000{"runId": [[[');
    });

    const { exit, out } = await runCommand({ url, only: 'runs/*' }, KEY);

    expect(exit).toBe(1);
    expect(out).toMatch(/FAILED RUN-1 /);
  });

  it('and dies in the middle ends the suite with what was found, and exit code 3', async () => {
    let asked = 0;
    const url = await tcpHost((socket) =>
      socket.on('data', () => {
        asked += 1;
        const body = JSON.stringify(DISCOVERY);
        if (asked <= 2)
          return void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        socket.destroy();
        void cleanups.pop()?.();
      }),
    );

    const { exit, out } = await runCommand({ url, concurrency: '1' }, KEY);

    expect(exit).toBe(3);
    expect(out).toContain('The host stopped answering before the end.');
  });
});
