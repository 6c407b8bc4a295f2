import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLeanFetch } from './lean-fetch.ts';

let server: Server;
let url: string;

beforeEach(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString('utf8')));
    request.on('end', () => {
      if (request.url === '/never') return;
      if (request.url === '/lines') {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        response.write('{"a":1}\n');
        return;
      }
      response.writeHead(request.url === '/busy' ? 503 : 200, {
        'retry-after': '7',
        'content-type': 'application/json',
      });
      response.end(JSON.stringify({ method: request.method, body, key: request.headers.authorization }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('a lean fetch', () => {
  it('sends a text and reads the answer', async () => {
    const answer = await createLeanFetch()(url, {
      method: 'POST',
      body: '{"ä":1}',
      headers: { authorization: 'Bearer k' },
    });

    expect(answer.ok).toBe(true);
    expect(JSON.parse(await answer.text())).toEqual({ method: 'POST', body: '{"ä":1}', key: 'Bearer k' });
  });

  it('tells the status and when to come again', async () => {
    const answer = await createLeanFetch()(`${url}/busy`);

    expect(answer).toMatchObject({ ok: false, status: 503 });
    expect(answer.headers.get('retry-after')).toBe('7');
  });

  it('gives lines as they come', async () => {
    const answer = await createLeanFetch()(`${url}/lines`);

    const { value } = (await answer.body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe('{"a":1}\n');
  });

  it('fails as fetch does when nothing listens, and when it is aborted', async () => {
    const lean = createLeanFetch();
    const controller = new AbortController();
    const waiting = lean(`${url}/never`, { signal: controller.signal });

    controller.abort();

    await expect(waiting).rejects.toThrow('fetch failed');
    await expect(lean(`${url}/never`, { signal: AbortSignal.abort() })).rejects.toThrow('fetch failed');
    await expect(lean('http://127.0.0.1:1/')).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });
});
