import type { JsonObject } from '@weft/protocol';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { NodeFailure, type NodeResult } from '../../model/node-type.ts';
import { createEgress } from '../../runtime/egress/egress.ts';
import { httpRequestNode } from './http-request.ts';
import { sampleEffect } from '../testing/sample-effect-context.ts';
import { sampleInput } from '../testing/sample-node-input.ts';

let server: Server | undefined;

afterEach(async () => {
  if (server === undefined) return;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  server = undefined;
});

async function serve(handler: RequestListener): Promise<number> {
  server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Performs the node with the host's own egress, which admits `allow` and nothing else of this machine. */
function perform(
  config: JsonObject,
  allow: string[],
  signal = new AbortController().signal,
): Promise<NodeResult> {
  return httpRequestNode.perform(sampleInput(httpRequestNode, { config }), {
    ...sampleEffect().context,
    signal,
    stop: signal,
    egress: createEgress({ allow, connectTimeoutMs: 5000 }),
  });
}

async function failureOf(performing: Promise<NodeResult>): Promise<NodeFailure> {
  const error: unknown = await performing.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof NodeFailure) return error;
  throw new Error('The node did not fail as a node should.', { cause: error });
}

describe('core.http.request', () => {
  it('outputs status, shown headers and the parsed body, and sends the invocation id', async () => {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      seen.push(request.headers['idempotency-key'], request.headers['user-agent']);
      response.setHeader('Set-Cookie', 'session=1');
      response.writeHead(200, { 'Content-Type': 'application/json', ETag: '"7"' }).end('{"ok":true}');
    });

    const result = await perform({ url: `http://127.0.0.1:${port}/` }, [`127.0.0.1:${port}`]);

    expect(result.outputs).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json', etag: '"7"' },
      body: { ok: true },
      output: { ok: true },
    });
    expect(seen).toEqual(['invocation-1', expect.stringMatching(/^weft\/\d/)]);
  });

  it('is denied by default and names the destination, never the rest of the URL', async () => {
    const port = await serve((_, response) => response.end());

    const failure = await failureOf(
      perform(
        {
          url: `http://me:hunter2@127.0.0.1:${port}/hunter2?key=hunter2`,
          headers: { 'X-Api-Key': 'hunter2' },
        },
        [],
      ),
    );

    expect(failure).toMatchObject({
      code: 'egress_denied',
      retryable: false,
      details: { reason: 'loopback', destination: `127.0.0.1:${port}` },
    });
    expect(failure.message + JSON.stringify(failure.details)).not.toContain('hunter2');
  });

  it('fails retryable with Retry-After on 503 and keeps secrets to itself', async () => {
    const port = await serve((_, response) => response.writeHead(503, { 'Retry-After': '2' }).end('hunter2'));

    const failure = await failureOf(
      perform({ url: `http://me:hunter2@127.0.0.1:${port}/?key=hunter2` }, [`127.0.0.1:${port}`]),
    );

    expect(failure).toMatchObject({
      code: 'http_status',
      retryable: true,
      retryAfterMs: 2000,
      details: { status: 503 },
    });
    expect(failure.message + JSON.stringify(failure.details)).not.toContain('hunter2');
  });

  it('fails for good on 404, unless 404 is expected', async () => {
    const port = await serve((_, response) => response.writeHead(404).end('gone'));
    const url = `http://127.0.0.1:${port}/`;

    const failure = await failureOf(perform({ url }, [`127.0.0.1:${port}`]));
    const result = await perform({ url, expectStatus: [200, 404] }, [`127.0.0.1:${port}`]);

    expect(failure).toMatchObject({ code: 'http_status', retryable: false, details: { status: 404 } });
    expect(result.outputs).toMatchObject({ status: 404, body: 'gone' });
  });

  it('fails with output_too_large when the answer is over the limit', async () => {
    const port = await serve((_, response) => response.end('x'.repeat(101)));

    const failure = await failureOf(
      perform({ url: `http://127.0.0.1:${port}/`, maxResponseBytes: 100 }, [`127.0.0.1:${port}`]),
    );

    expect(failure).toMatchObject({ code: 'output_too_large', retryable: false, details: { limit: 100 } });
  });

  it('fails retryable when the connection breaks', async () => {
    const port = await serve((request) => request.socket.destroy());

    const failure = await failureOf(perform({ url: `http://127.0.0.1:${port}/` }, [`127.0.0.1:${port}`]));

    expect(failure).toMatchObject({
      code: 'http_request_failed',
      retryable: true,
      details: { reason: 'connection_closed', destination: `127.0.0.1:${port}` },
    });
  });

  it('stops when its signal is aborted', async () => {
    const controller = new AbortController();
    const port = await serve(() => controller.abort());

    const failure = await failureOf(
      perform({ url: `http://127.0.0.1:${port}/` }, [`127.0.0.1:${port}`], controller.signal),
    );

    expect(failure).toMatchObject({ code: 'http_request_failed', details: { reason: 'aborted' } });
  });

  it('does not pass on a body that is compressed against its wish', async () => {
    const port = await serve((_, response) =>
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('\x1f\x8b'),
    );

    const failure = await failureOf(perform({ url: `http://127.0.0.1:${port}/` }, [`127.0.0.1:${port}`]));

    expect(failure).toMatchObject({ code: 'http_request_failed', details: { reason: 'content_encoding' } });
  });
});
