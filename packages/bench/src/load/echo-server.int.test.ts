import { Agent, get, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EchoServer, startEchoServer } from './echo-server.ts';

let echo: EchoServer;

beforeAll(async () => {
  echo = await startEchoServer();
});

afterAll(() => echo.close());

function ask(url: string, agent?: Agent): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    get(url, { agent: agent ?? false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    }).on('error', reject);
  });
}

describe('the echo server', () => {
  it('answers many requests over one connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });

    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(echo.url, agent)));

    agent.destroy();
    expect(new Set(answers.map(({ body }) => body))).toEqual(new Set(['{"ok":true}']));
  });

  it('answers later, and with more, where asked to', async () => {
    const { body } = await ask(echo.slowUrl(5, 100_000));

    expect(JSON.parse(body)).toEqual({ ok: true, filling: 'x'.repeat(100_000) });
  });

  it('holds what waits at a gate, until that is opened', async () => {
    const gate = echo.newGate();
    let isAnswered = false;
    const waiting = ask(gate.url).then((answer) => {
      isAnswered = true;
      return answer;
    });
    await ask(echo.url);
    expect(isAnswered).toBe(false);

    gate.open();

    expect((await waiting).status).toBe(200);
    expect((await ask(gate.url)).status).toBe(200);
  });

  it('refuses what it would misread', async () => {
    const status = await new Promise((resolve) => {
      request(echo.url, { method: 'POST', agent: false }, (response) => resolve(response.statusCode)).end(
        '{}',
      );
    });

    expect(status).toBe(405);
  });
});
