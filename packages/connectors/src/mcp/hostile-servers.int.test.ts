import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createNetServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '@weft/protocol';
import { MCP_LIMITS } from './limits.ts';
import { type OpenedTools, openTools, scriptedServer } from './testing/servers.ts';
import { toolContext } from './testing/tool-context.ts';

let opened: OpenedTools | undefined;
let web: Server | undefined;

afterEach(async () => {
  await opened?.tools.stop();
  opened = undefined;
  web?.closeAllConnections();
  await new Promise((resolve) => (web === undefined ? resolve(undefined) : web.close(resolve)));
  web = undefined;
});

function open(script: string, more: JsonObject = {}): OpenedTools['tools'] {
  opened = openTools({ bad: scriptedServer(script, more) });
  return opened.tools;
}

const call = (tools: OpenedTools['tools'], tool = 'work', context = toolContext(), given: JsonObject = {}) =>
  tools.call({ server: 'bad', tool, arguments: given }, context);

const ONE_TOOL = "'tools/list': (id) => reply(id, { tools: [tool('work')] })";
const SAFE_TOOL =
  "'tools/list': (id) => reply(id, { tools: [tool('work', { annotations: { readOnlyHint: true } })] })";

describe('a server that sends too much', () => {
  it('is ended when a message is larger than the limit', async () => {
    const tools = open(
      `onRequest({ ${ONE_TOOL}, 'tools/call': (id) => reply(id, { content: [{ type: 'text', text: 'x'.repeat(5e6) }] }) })`,
    );

    const failure = call(tools);

    await expect(failure).rejects.toMatchObject({ code: 'tool_connection_lost', retryable: false });
    await expect(failure).rejects.toThrow(`more than ${MCP_LIMITS.messageBytes} bytes`);
    expect(tools.status('bad')).toMatchObject({ state: 'failed' });
  });

  it('is not offered when its list of tools does not end', async () => {
    const tools = open(
      "let n = 0; onRequest({ 'tools/list': (id) => reply(id, { tools: [tool('t' + n++)], nextCursor: 'more' }) })",
    );

    await expect(tools.list('bad', toolContext())).rejects.toMatchObject({ code: 'tool_server_unavailable' });
  });

  it('is not offered with more tools than the limit, unless the configuration admits fewer', async () => {
    const script =
      "onRequest({ 'tools/list': (id) => reply(id, { tools: Array.from({ length: 600 }, (_, n) => tool('t' + n)) }) })";
    await expect(open(script).list('bad', toolContext())).rejects.toThrow('Admit fewer with "tools"');
    await opened?.tools.stop();

    expect(await open(script, { tools: ['t1*'] }).list('bad', toolContext())).toHaveLength(111);
  });

  it('gives no result that is too large to record', async () => {
    const tools = open(
      `onRequest({ ${ONE_TOOL}, 'tools/call': (id) => reply(id, { content: [{ type: 'text', text: 'x'.repeat(2e5) }] }) })`,
    );

    await expect(call(tools)).rejects.toMatchObject({ code: 'output_too_large', retryable: false });
  });

  it('gives no result that nests too deep', async () => {
    const tools = open(
      `onRequest({ ${SAFE_TOOL}, 'tools/call': (id) => process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":' + '['.repeat(9e4) + ']'.repeat(9e4) + '}}\\n') })`,
    );

    await expect(call(tools)).rejects.toMatchObject({ code: 'tool_protocol_error' });
  });
});

describe('a server that speaks badly', () => {
  it('is understood between lines that are no messages', async () => {
    const tools = open(
      `onRequest({ ${ONE_TOOL}, 'tools/call': (id) => { for (let n = 0; n < 50; n++) process.stdout.write('Debug: {not json\\n'); reply(id, { content: [] }); } })`,
    );

    expect(await call(tools)).toEqual({ content: [], isError: false });
    expect(opened?.lines.filter(({ message }) => message.includes('no messages'))).toHaveLength(1);
  });

  it('is ended when it writes nothing else', async () => {
    const tools = open(
      `onRequest({ ${ONE_TOOL}, 'tools/call': () => setInterval(() => process.stdout.write('noise\\n'.repeat(1e3)), 1) })`,
    );

    await expect(call(tools)).rejects.toThrow('lines that are no messages');
  });

  it('has tools left out whose names hold control characters, or whose definitions are none', async () => {
    const tools = open(
      "onRequest({ 'tools/list': (id) => reply(id, { tools: [tool('good'), tool('a\\u001b[2J'), tool('good'), { name: 'bare' }, 7, tool('big', { description: 'x'.repeat(7e4) })] }) })",
    );

    const listed = await tools.list('bad', toolContext());

    expect(listed.map(({ name }) => name)).toEqual(['good']);
    const { leftOut = [] } = tools.status('bad');
    expect(leftOut).toHaveLength(5);
    expect(leftOut.join('\n')).toContain('"a\\u001b[2J": its name');
    expect(leftOut.join('')).not.toMatch(/[\u0000-\u001f]/);
  });

  it.each([
    ["reply(id, { content: 'text' })", 'tool_protocol_error'],
    ['reply(id, { content: [], structuredContent: [1] })', 'tool_protocol_error'],
    ["send({ id, error: { code: -32602, message: 'no\\u001b[2J' } })", 'tool_call_failed'],
  ])('fails the call when it answers by %s', async (answer, code) => {
    const tools = open(`onRequest({ ${ONE_TOOL}, 'tools/call': (id) => ${answer} })`);

    const failure = await call(tools).catch((error: unknown) => error);

    expect(failure).toMatchObject({ code, retryable: false });
    expect(String(failure)).not.toMatch(/\u001b/);
  });

  it('has a schema that cannot be used refused instead of its tool being called', async () => {
    const tools = open(
      "onRequest({ 'tools/list': (id) => reply(id, { tools: [tool('work', { inputSchema: { type: 'object', properties: { a: { $ref: 'https://example.org/a' } } } })] }) })",
    );

    await expect(call(tools)).rejects.toMatchObject({ code: 'tool_schema_unusable' });
  });
});

describe('a server that does not answer', () => {
  it('ends the call when its time is over, and says that the outcome is not known', async () => {
    const tools = open(`onRequest({ ${ONE_TOOL}, 'tools/call': () => undefined })`, { timeoutMs: 50 });

    await expect(call(tools)).rejects.toMatchObject({
      code: 'tool_timeout',
      retryable: false,
      details: { outcome: 'unknown' },
    });
  });

  it('may be asked again where the tool only reads', async () => {
    const tools = open(`onRequest({ ${SAFE_TOOL}, 'tools/call': () => undefined })`, { timeoutMs: 50 });

    await expect(call(tools)).rejects.toMatchObject({ code: 'tool_timeout', retryable: true });
  });

  it('fails a call in which it dies, is not started again at once, and works after its backoff (M-4, M-5)', async () => {
    const tools = open(
      `onRequest({ ${ONE_TOOL}, 'tools/call': (id, { arguments: { die } }) => die ? process.exit(3) : reply(id, { content: [] }) })`,
    );

    const failure = call(tools, 'work', toolContext(), { die: true });

    await expect(failure).rejects.toMatchObject({ code: 'tool_connection_lost', retryable: false });
    await expect(failure).rejects.toThrow('exit code 3');
    const refused = await call(tools).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'tool_server_unavailable', retryable: true });
    const { retryAfterMs = 0 } = refused as { retryAfterMs?: number };
    expect(retryAfterMs).toBeGreaterThan(0);
    await expect
      .poll(() => call(tools), { timeout: 20_000, interval: 100 })
      .toEqual({ content: [], isError: false });
  });

  it('that cannot be started is named with the reason', async () => {
    opened = openTools({ bad: { command: '/nowhere/at-all' } });

    await expect(opened.tools.list('bad', toolContext())).rejects.toThrow(/cannot be started: .*ENOENT/);
  });

  it('is not asked when the run is not held any more', async () => {
    const tools = open(`onRequest({ ${ONE_TOOL}, 'tools/call': (id) => reply(id, { content: [] }) })`);
    await tools.list('bad', toolContext());

    const failure = call(tools, 'work', toolContext({ holdsClaim: () => false }));

    await expect(failure).rejects.toMatchObject({ code: 'tool_server_unavailable', retryable: true });
  });

  it('hears that a call was stopped', async () => {
    const tools = open(
      `onRequest({ ${ONE_TOOL}, 'tools/call': () => process.stderr.write('called\\n'), 'notifications/cancelled': () => process.stderr.write('stopped\\n') })`,
    );
    const stop = new AbortController();
    const logged = (line: string) => opened?.lines.some(({ fields }) => fields['line'] === line);

    const stopped = call(tools, 'work', toolContext({ signal: stop.signal })).catch(
      (error: unknown) => error,
    );
    await expect.poll(() => logged('called')).toBe(true);
    stop.abort();

    await stopped;
    await expect.poll(() => logged('stopped')).toBe(true);
  });
});

describe('calls of one server', () => {
  it('are open up to the limit, and the others wait (M-6)', async () => {
    const tools = open(
      `let open = 0, most = 0; onRequest({ ${ONE_TOOL}, 'tools/call': (id) => { most = Math.max(most, ++open); setTimeout(() => { open--; reply(id, { content: [{ most }] }); }, 20); } })`,
    );

    const results = await Promise.all(Array.from({ length: 40 }, () => call(tools)));

    expect(results.at(-1)?.content).toEqual([{ most: MCP_LIMITS.callsPerServer }]);
  });
});

describe('a server whose tools change', () => {
  const CHANGING = `let version = 1; onRequest({ 'tools/list': (id) => reply(id, { tools: [tool('work', { description: 'v' + version })] }),
    'tools/call': (id) => { version++; send({ method: 'notifications/tools/list_changed' }); reply(id, { content: [] }); } })`;

  it('is noticed, and not called by those who know another definition (M-7)', async () => {
    const tools = open(CHANGING);
    const [first] = await tools.list('bad', toolContext());
    const digest = first?.digest ?? '';
    await tools.call({ server: 'bad', tool: 'work', arguments: {}, digest }, toolContext());

    const second = tools.call({ server: 'bad', tool: 'work', arguments: {}, digest }, toolContext());

    await expect(second).rejects.toMatchObject({ code: 'tool_changed', retryable: false });
    expect(opened?.lines.find(({ message }) => message.includes('another definition'))?.fields).toMatchObject(
      {
        server: 'bad',
        tool: 'work',
        before: digest,
      },
    );
  });
});

describe('the secrets of a server', () => {
  const LEAKY = `process.stderr.write('key ' + process.env.KEY + '\\n');
    onRequest({ 'tools/list': (id) => reply(id, { tools: [tool('work', { description: process.env.KEY })] }),
      'tools/call': (id) => reply(id, { content: [{ type: 'text', text: 'it is ' + Buffer.from(process.env.KEY).toString('base64') + ' or ' + process.env.KEY }] }) })`;

  it('reach its environment, and are masked in results, definitions and lines of stderr', async () => {
    const secrets = { files: 'swordfish-4711' };
    const tools = open(LEAKY, { env: { KEY: 'secret:files' } });

    const [listed] = await tools.list('bad', toolContext({ secrets }));
    const result = await call(tools, 'work', toolContext({ secrets }));

    await expect
      .poll(() => opened?.lines.some(({ fields }) => fields['line'] === 'key [REDACTED:files]'))
      .toBe(true);
    expect(JSON.stringify([listed, result, opened?.lines])).not.toContain('swordfish');
    expect(JSON.stringify(result)).not.toContain(Buffer.from('swordfish-4711').toString('base64'));
    expect(listed?.description).toBe('[REDACTED:files]');
  });

  it('begin another process when they change', async () => {
    const tools = open(LEAKY, { env: { KEY: 'secret:files' } });
    await tools.list('bad', toolContext({ secrets: { files: 'swordfish-4711' } }));
    const before = tools.status('bad').pid;

    await call(tools, 'work', toolContext({ secrets: { files: 'swordfish-4712' } }));

    const { pid } = tools.status('bad');
    expect(pid).not.toBe(before);
    expect(() => process.kill(before ?? 0, 0)).toThrow('ESRCH');
  });

  it('that are not set keep it from being started', async () => {
    const tools = open(LEAKY, { env: { KEY: 'secret:files' } });

    await expect(call(tools)).rejects.toMatchObject({ code: 'credential_unavailable' });
    expect(tools.status('bad').state).toBe('idle');
  });
});

describe('a process', () => {
  it('sees PATH and what is configured, and nothing else', async () => {
    process.env['WEFT_TEST_ONLY'] = 'seen';
    const tools = open(
      `onRequest({ ${ONE_TOOL}, 'tools/call': (id) => reply(id, { content: [], structuredContent: { env: Object.keys(process.env).sort() } }) })`,
      {
        env: { GIVEN: '1' },
      },
    );

    const { structuredContent } = await call(tools);

    expect(structuredContent).toEqual({ env: ['GIVEN', 'PATH'] });
    delete process.env['WEFT_TEST_ONLY'];
  });

  it('ends with all that it has started, even when it does not want to', async () => {
    const watched = createNetServer();
    await new Promise<void>((resolve) => watched.listen(0, '127.0.0.1', resolve));
    const connected = new Promise<Socket>((resolve) => watched.once('connection', resolve));
    const address = watched.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const tools =
      open(`process.on('SIGTERM', () => undefined); process.exit = () => undefined; setInterval(() => undefined, 1e3);
      const child = "process.on('SIGTERM', () => undefined); require('node:net').connect(${port}, '127.0.0.1')";
      require('node:child_process').spawn(process.execPath, ['-e', child], { stdio: 'ignore' });
      onRequest({ ${ONE_TOOL}, 'tools/call': (id) => reply(id, { content: [] }) })`);
    await call(tools);
    const socket = await connected;
    const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
    const { pid = 0 } = tools.status('bad');

    await tools.stop();

    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await closed;
    watched.close();
  });
});

describe('a server over HTTP', () => {
  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    web = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`;
  }

  /** Answers the handshake and lists one tool; calls are left to the test. */
  function answering(
    onCall: (id: number, respond: Parameters<RequestListener>[1], seen: JsonObject) => void,
  ): RequestListener {
    return (request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      request.on('end', () => {
        const { id, method } = JSON.parse(text) as { id: number; method: string };
        const reply = (result: unknown) => {
          response.setHeader('content-type', 'application/json');
          response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
        };
        if (method === 'initialize')
          reply({
            protocolVersion: '2025-06-18',
            capabilities: { tools: {} },
            serverInfo: { name: 'web', version: '1' },
          });
        else if (method === 'tools/list')
          reply({ tools: [{ name: 'work', inputSchema: { type: 'object' } }] });
        else if (method === 'ping') reply({});
        else if (method === 'tools/call') onCall(id, response, { ...request.headers } as JsonObject);
        else response.writeHead(202).end();
      });
    };
  }

  it('gets the configured headers, and what it repeats of them is masked', async () => {
    const url = await serve(
      answering((id, response, headers) => {
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ text: headers['authorization'] }] } }),
        );
      }),
    );
    opened = openTools({ bad: { url, headers: { Authorization: 'Bearer secret:token' } } });

    const result = await call(opened.tools, 'work', toolContext({ secrets: { token: 'swordfish-4711' } }));

    expect(result.content).toEqual([{ text: 'Bearer [REDACTED:token]' }]);
  });

  it('is not followed to another place', async () => {
    const hits: string[] = [];
    const url = await serve((request, response) => {
      hits.push(request.url ?? '');
      response.writeHead(307, { location: 'http://localhost:1/elsewhere' }).end();
    });
    opened = openTools({ bad: { url } });

    await expect(opened.tools.list('bad', toolContext())).rejects.toMatchObject({
      code: 'tool_server_unavailable',
    });
    expect(hits).toEqual(['/mcp']);
  });

  it('ends the call when its answer breaks off, is too large, or holds no response', async () => {
    let answer: (response: Parameters<RequestListener>[1]) => void = () => undefined;
    const url = await serve(answering((_id, response) => answer(response)));
    opened = openTools({ bad: { url } });
    const { tools } = opened;
    const lost = { retryable: false, details: { outcome: 'unknown' } };

    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: message\ndata: {"jso', () => response.destroy());
    };
    await expect(call(tools)).rejects.toMatchObject({ code: 'tool_connection_lost', ...lost });
    answer = (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(' '.repeat(5e6));
    await expect(call(tools)).rejects.toMatchObject({ code: 'tool_connection_lost', ...lost });
    answer = (response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n');
    await expect(call(tools)).rejects.toMatchObject({ code: 'tool_protocol_error', ...lost });
    answer = (response) => response.writeHead(502).end('bad gateway');
    await expect(call(tools)).rejects.toMatchObject({ code: 'tool_connection_lost', ...lost });
    answer = (response) => response.writeHead(403).end('no');
    await expect(call(tools)).rejects.toMatchObject({ code: 'tool_call_failed', details: { status: 403 } });
  });

  it.each([400, 404])(
    'that answers a call with %i is not sent it again: the tool may have done its work (M-11)',
    async (status) => {
      let calls = 0;
      const url = await serve(
        answering((_id, response) => {
          calls += 1;
          response.writeHead(status).end();
        }),
      );
      opened = openTools({ bad: { url } });

      await expect(call(opened.tools)).rejects.toMatchObject({
        code: 'tool_call_failed',
        retryable: false,
        details: { status },
      });

      expect(calls).toBe(1);
    },
  );

  it('that is not there is unavailable, and asking again is safe', async () => {
    opened = openTools({ bad: { url: 'http://127.0.0.1:1/mcp' } });

    await expect(call(opened.tools)).rejects.toMatchObject({
      code: 'tool_server_unavailable',
      retryable: true,
    });
  });
});
