import type { CallMeter, OutputChunk, SpentCall } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANTHROPIC_FORMAT } from './testing/anthropic-format.ts';
import { GEMINI_FORMAT } from './testing/gemini-format.ts';
import { callModel, type Called, type CallOptions } from './testing/model-call.ts';
import { OPENAI_FORMAT } from './testing/openai-format.ts';
import { startWireServer, type WireFormat, type WireServer } from './testing/wire-server.ts';

interface Wire {
  readonly kind: string;
  readonly format: WireFormat;
  readonly path: string;
  /** Where the key is sent. */
  readonly keyOf: (headers: Readonly<Record<string, unknown>>) => unknown;
}

const WIRES: readonly Wire[] = [
  { kind: 'openai', format: OPENAI_FORMAT, path: '/chat/completions', keyOf: (h) => h['authorization'] },
  {
    kind: 'openai-compatible',
    format: OPENAI_FORMAT,
    path: '/chat/completions',
    keyOf: (h) => h['authorization'],
  },
  { kind: 'anthropic', format: ANTHROPIC_FORMAT, path: '/messages', keyOf: (h) => h['x-api-key'] },
  {
    kind: 'google',
    format: GEMINI_FORMAT,
    path: '/models/fable-1:streamGenerateContent?alt=sse',
    keyOf: (h) => h['x-goog-api-key'],
  },
];

const KEY = 'key-of-the-operator';
const TOOL = {
  name: 'look_up',
  description: 'Looks things up.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
};

function meterOf(counted: (SpentCall | boolean | undefined)[]): CallMeter {
  return {
    mayAsk: () => true,
    begin: (spent) => (hasReply) => void counted.push(spent(), hasReply),
  };
}

describe.each(WIRES)('a provider of the kind $kind', ({ kind, format, path, keyOf }) => {
  let server: WireServer;

  beforeEach(async () => {
    server = await startWireServer(format);
  });

  afterEach(() => server.close());

  function options(changes: Partial<CallOptions> = {}, provider: JsonObject = {}): CallOptions {
    return {
      config: {
        providers: { it: { kind, baseUrl: server.url, apiKey: 'secret:it', ...provider } },
        default: 'it/fable-1',
      },
      operatorSecrets: { it: KEY },
      ...changes,
    };
  }

  const call = (changes?: Partial<CallOptions>, provider?: JsonObject): Promise<Called> =>
    callModel(options(changes, provider));

  it('gets text in pieces, with its usage, and one idempotency key', async () => {
    server.say({ text: ['Once', ' upon', ' a time'], usage: { input: 11, output: 5 } });

    const { reply, chunks } = await call();

    expect(reply).toMatchObject({
      text: 'Once upon a time',
      finishReason: 'stop',
      usage: { promptTokens: 11, completionTokens: 5, totalTokens: 16 },
    });
    expect(chunks.map(({ chunk }) => chunk).join('')).toBe('Once upon a time');
    expect(chunks.at(-1)).toMatchObject({ isLast: true, meta: { finishReason: 'stop' } });
    expect(server.asked).toHaveLength(1);
    expect(server.asked[0]?.path).toBe(path);
    expect(server.asked[0]?.headers['idempotency-key']).toBe('invocation-1');
    expect(String(keyOf(server.asked[0]?.headers ?? {}))).toContain(KEY);
  });

  it('tells how it reasons while it does, where its format has a place for that', async () => {
    server.say({ reasoning: ['First, ', 'the facts.'], text: ['Seven.'] });

    const { reply, reasoning, chunks } = await call();

    // Of the two that speak alike, the maker's own keeps it to itself.
    const said = kind === 'openai' ? '' : 'First, the facts.';
    expect(reasoning.join('')).toBe(said);
    expect(reply.reasoning ?? '').toBe(said);
    expect(chunks.map(({ chunk }) => chunk).join('')).toBe('Seven.');
  });

  it('tells a text that comes slowly once, in its order, between what is thought before and called after it', async () => {
    const text = Array.from({ length: 30 }, (_, index) => `word ${index} 🧵“\\n”\n`);
    const toolCalls = [{ id: 'call-1', name: 'look_up', arguments: '{"id":"7"}' }];
    server.say({ reasoning: ['First, ', 'the facts.'], text, everyMs: 8, toolCalls });
    const told: string[] = [];

    const { reply, chunks, reasoning } = await callModel(options({ request: { tools: [TOOL] } }), [], told);

    const order = [...(kind === 'openai' ? [] : ['reasoning']), 'text'];
    expect(told.filter((what, index) => what !== told[index - 1])).toEqual(order);
    expect(reasoning.join('')).toBe(kind === 'openai' ? '' : 'First, the facts.');
    expect(reply.text).toBe(text.join(''));
    expect(chunks.map(({ chunk }) => chunk).join('')).toBe(reply.text);
    expect(chunks.length).toBeGreaterThan(1);
    expect(reply.toolCalls).toMatchObject([{ name: 'look_up' }]);
  });

  it('tells of an answer by a schema what is the answer, and nothing else', async () => {
    const outputSchema = { type: 'object', properties: { mood: { type: 'string' } }, required: ['mood'] };
    server.say({ text: ['{"mood"', ':', ' "fi', 'ne', '"}', ' '], everyMs: 25 });

    const { reply, chunks } = await call({ request: { outputSchema } });

    expect(chunks.map(({ chunk }) => chunk).join('')).toBe(reply.text);
  });

  it('takes tools, calls and results', async () => {
    server.say({ toolCalls: [{ id: 'call-1', name: 'look_up', arguments: '{"id":"7"}' }] });

    const { reply } = await call({ request: { tools: [TOOL] } });

    expect(reply.finishReason).toBe('tool_calls');
    expect(reply.toolCalls).toHaveLength(1);
    expect(reply.toolCalls?.[0]).toMatchObject({ name: 'look_up', arguments: '{"id":"7"}' });
    expect(JSON.stringify(server.asked[0]?.body)).toContain('Looks things up.');

    server.say({ text: ['It is seven.'] });
    const [made] = reply.toolCalls ?? [];
    const second = await call({
      request: {
        tools: [TOOL],
        messages: [
          { role: 'system', text: 'Be brief.' },
          { role: 'user', text: 'What is it?' },
          { role: 'assistant', text: '', toolCalls: made === undefined ? [] : [made] },
          { role: 'tool', callId: made?.id ?? '', name: 'look_up', text: 'seven' },
        ],
      },
    });

    expect(second.reply.text).toBe('It is seven.');
    const body = JSON.stringify(server.asked[1]?.body);
    for (const part of ['Be brief.', 'What is it?', 'seven', 'look_up']) expect(body).toContain(part);
  });

  it('passes temperature, length and schema on', async () => {
    const outputSchema = { type: 'object', properties: { mood: { type: 'string' } }, required: ['mood'] };
    server.say({ text: ['{"mood":"fine"}'] });

    await call({ request: { temperature: 0.5, maxTokens: 99, outputSchema } });

    const body = JSON.stringify(server.asked[0]?.body);
    for (const part of ['0.5', '99', 'mood']) expect(body).toContain(part);
  });

  it('sends images with the question, as they are', async () => {
    const bytes = Buffer.from('89504e470d0a1a0a', 'hex');
    const images = [{ mediaType: 'image/png', bytes }];

    await call({ request: { messages: [{ role: 'user', text: 'What is it?', images }] } });

    const body = JSON.stringify(server.asked[0]?.body);
    for (const part of ['What is it?', bytes.toString('base64'), 'image/png']) expect(body).toContain(part);
  });

  it.each([
    ['length', 'length'],
    ['content_filter', 'content_filter'],
  ] as const)('says when it stopped for %s', async (finish, finishReason) => {
    server.say({ text: ['Half'], finish });

    expect((await call()).reply).toMatchObject({ finishReason });
  });

  it('waits as long as a busy provider says', async () => {
    server.say({ status: 429, headers: { 'retry-after': '7' }, error: 'slow down' });

    await expect(call()).rejects.toMatchObject({
      code: 'provider_rate_limited',
      retryable: true,
      retryAfterMs: 7_000,
    });
    expect(server.asked).toHaveLength(1);
  });

  it.each([
    [500, 'provider_unavailable', true],
    [503, 'provider_unavailable', true],
    [400, 'provider_rejected', false],
    [401, 'provider_rejected', false],
    [404, 'provider_rejected', false],
  ])('fails with status %i as %s', async (status, code, retryable) => {
    server.say({ status, error: 'not like this' });

    await expect(call()).rejects.toMatchObject({ code, retryable, details: { provider: 'it', status } });
    expect(server.asked).toHaveLength(1);
  });

  it('has told what came before its stream breaks', async () => {
    const text = Array.from({ length: 15 }, (_, index) => `word ${index} `);
    server.say({ text, everyMs: 8, after: 'break' });
    const chunks: OutputChunk[] = [];

    await expect(callModel(options(), chunks)).rejects.toMatchObject({ code: 'provider_unavailable' });

    expect(chunks.map(({ chunk }) => chunk).join('')).toBe(text.join(''));
  });

  it.each(['break', 'end'] as const)('can be tried again when its stream just stops (%s)', async (after) => {
    server.say({ text: ['Half a '], after });
    const chunks: OutputChunk[] = [];
    const counted: (SpentCall | boolean | undefined)[] = [];

    await expect(callModel(options({ meter: meterOf(counted) }), chunks)).rejects.toMatchObject({
      code: 'provider_unavailable',
      retryable: true,
    });
    expect(chunks).toEqual([{ chunk: 'Half a ', isLast: false }]);
    // Of the question only, and only where the provider counts it beforehand.
    const usage = { promptTokens: 7, completionTokens: 1, totalTokens: 8 };
    const told = { provider: 'it', model: 'fable-1', usage };
    expect(counted).toEqual([kind === 'anthropic' ? told : undefined, false]);
  });

  it('fails when it sends what its format does not know', async () => {
    server.say({ text: ['Half a '], after: 'garbage' });

    await expect(call()).rejects.toMatchObject({ code: 'provider_protocol_error' });
  });

  it('is cut off when it does not stop talking', async () => {
    server.say({ text: ['On and on'], after: 'endless' });

    await expect(call()).rejects.toMatchObject({ code: 'output_too_large', retryable: false });
  });

  it('is given up when it falls silent', async () => {
    server.say({ text: ['Well…'], after: 'silence' });

    await expect(call({}, { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'provider_timeout',
      retryable: true,
    });
  });

  it('is stopped with its effect', async () => {
    server.say({ text: ['Well…'], after: 'silence' });
    const stop = new AbortController();
    const emitted: OutputChunk[] = [];
    const calling = callModel(options({ signal: stop.signal }), emitted);
    await expect.poll(() => emitted.length).toBe(1);
    expect(emitted[0]?.chunk).toBe('Well…');

    stop.abort();

    await expect(calling).rejects.toMatchObject({ code: 'provider_aborted' });
  });

  it('never says the key, whatever the provider says', async () => {
    server.say({ status: 400, error: `bad key ${'x'.repeat(5_000)}\u0000` });

    const failure = (await call().catch((error: unknown) => error)) as Error;

    expect(failure.message.length).toBeLessThan(400);
    expect(failure.message).not.toContain(KEY);
    expect(failure.message).not.toContain('\u0000');
  });
});
