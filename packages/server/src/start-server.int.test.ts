import { get, Agent } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startServer } from './start-server.ts';
import { openHarness } from './testing/harness.ts';
import { openSse } from './testing/sse-client.ts';

describe('shutting down', () => {
  it('ends open streams and polls within two seconds, and loses no connection hanging', async () => {
    const at = await openHarness();
    const server = await startServer(at.app, { host: '127.0.0.1', port: 0 });
    const { runId } = await at.start('wait');
    const events = `${server.url}/v1/runs/${runId}/events`;
    const modes = ['updates', 'values', 'debug&bufferMs=5000', 'messages'];
    const clients = await Promise.all(
      modes.map((mode) => openSse({ url: `${events}?streamMode=${mode}`, key: at.key })),
    );
    const poll = fetch(`${events}/poll?lastSequence=99&timeout=60`, {
      headers: { authorization: `Bearer ${at.key}` },
    });
    await expect.poll(() => at.host.stats()['listeners']).toBe(5);
    const idle = new Agent({ keepAlive: true });
    await new Promise((resolve) =>
      get(`${server.url}/health`, { agent: idle }, (answer) => answer.resume().on('end', resolve)),
    );
    const began = performance.now();

    await server.shutdown();

    expect(performance.now() - began).toBeLessThan(2_000);
    await Promise.all(clients.map((client) => client.ended));
    expect((await poll).status).toBe(200);
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
    expect(at.host.stats()['listeners']).toBe(0);
    idle.destroy();
    await at.close();
  });

  it('does not wait for a client that sends its request for ever', async () => {
    const at = await openHarness();
    const server = await startServer(at.app, { host: '127.0.0.1', port: 0, graceMs: 200 });
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    await new Promise((resolve) => socket.once('data', resolve));
    const began = performance.now();

    await server.shutdown();

    expect(performance.now() - began).toBeLessThan(2_000);
    await at.close();
  });

  it('twice is once', async () => {
    const at = await openHarness();
    const server = await startServer(at.app, { host: '127.0.0.1', port: 0 });

    await Promise.all([server.shutdown(), server.shutdown()]);

    await at.close();
  });
});

describe('bytes that are no request', () => {
  it('get the envelope, too', async () => {
    const at = await openHarness();
    const server = await startServer(at.app, { host: '127.0.0.1', port: 0 });
    const socket = connect(server.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });

    socket.write('this is not HTTP\r\n\r\n');
    await new Promise((resolve) => socket.on('close', resolve));

    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head).toContain('400 Bad Request');
    expect(JSON.parse(body)).toEqual({
      error: 'validation_error',
      message: 'This is not a valid HTTP request.',
    });
    await server.shutdown();
    await at.close();
  });
});

describe('URLs in answers', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.2', '127.0.0.2'],
    ['::', '127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]', '[::1]'],
  ])('lead to the address that was reached: bound to %s, reached at %s', async (bind, reached, shown) => {
    const at = await openHarness();
    const server = await startServer(at.app, { host: bind, port: 0, graceMs: 200 });

    const answer = await fetch(`http://${reached}:${server.port}/v1/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
      body: '{"workflowId":"noop"}',
    });

    expect(answer.headers.get('location')).toContain(`http://${shown}:${server.port}/v1/runs/`);
    await server.shutdown();
    await at.close();
  });
});
