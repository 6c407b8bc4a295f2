import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExpectations } from './expectations.ts';
import { createHostClient } from './host-client.ts';
import { createTrace } from './trace.ts';

const KEY = 'weft_test_0123456789';
const TOKEN = 'eyJydW5JZCI6IjEifQ.c2lnbmF0dXJl';
const SECRET = 'f'.repeat(64);

/** Repeats the key, and gives a token and a secret away. */
let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    const key = request.headers.authorization?.slice('Bearer '.length) ?? '';
    const headers = { 'content-type': 'application/json', 'x-echo': Buffer.from(key).toString('base64') };
    const padding = ' '.repeat(3_990 - TOKEN.length);
    const body = { key, secret: SECRET, padding, interrupt: { interruptToken: TOKEN } };
    response.writeHead(201, headers).end(JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
});
afterAll(() => new Promise((done) => server.close(done)));

describe('what a check leaves for reports', () => {
  it('has no key, no token of an interrupt and no secret that is shown once', async () => {
    const trace = createTrace([KEY]);
    const host = createHostClient({ url, key: KEY, trace });
    await host.request('GET', `/v1/interrupts/${TOKEN}x`);
    const answer = await host.request('POST', '/v1/webhooks', { body: { url: `https://x/?k=${KEY}` } });
    await host.request('GET', `/v1/interrupts/${TOKEN}`);

    const fail = (): void => createExpectations(trace).equal(answer.json, TOKEN, 'nothing is given away');

    expect(fail).toThrow(/nothing is given away/);
    const shown = JSON.stringify(trace.steps);
    for (const secret of [KEY, TOKEN.slice(0, 12), SECRET.slice(0, 12), Buffer.from(KEY).toString('base64')])
      expect(shown).not.toContain(secret);
    expect(answer.text).toContain(TOKEN);
  });
});
