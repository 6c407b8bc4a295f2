import type { ModelRequest } from '@weft/engine';
import { describe, expect, it } from 'vitest';
import { callModel } from './testing/model-call.ts';

const config = { providers: { mock: { kind: 'mock' } }, default: 'mock/echo' };
const TOOL = { name: 'look_up', inputSchema: { type: 'object' } };

const ask = (request: Partial<ModelRequest>) => callModel({ config, request });

describe('the mock', () => {
  it('reasons as the prompt says before it answers', async () => {
    const { reply, reasoning } = await callModel({
      config: { providers: { it: { kind: 'mock' } }, default: 'it/any' },
      request: { messages: [{ role: 'user', text: 'think It is late.\nsay Good night.' }] },
    });

    expect(reasoning).toEqual(['It is late.']);
    expect(reply).toMatchObject({ text: 'Good night.', reasoning: 'It is late.' });
  });

  it('echoes, with usage, in one last chunk', async () => {
    const { reply, chunks } = await ask({ messages: [{ role: 'user', text: 'Good morning to you' }] });

    expect(reply).toMatchObject({
      text: 'Good morning to you',
      model: 'mock-echo',
      usage: { promptTokens: 4, completionTokens: 4, totalTokens: 8 },
    });
    expect(chunks).toMatchObject([{ chunk: 'Good morning to you', isLast: true }]);
  });

  it('calls the tools that a message names, one a turn, then answers as its script says', async () => {
    const asked = {
      role: 'user' as const,
      text: 'call look_up {"id":1}\ncall other {}\ncall look_up\nsay Done.',
    };

    const one = await ask({ messages: [asked], tools: [TOOL] });
    const [made] = one.reply.toolCalls ?? [];
    const turn = [
      { role: 'assistant' as const, text: '', toolCalls: one.reply.toolCalls ?? [] },
      { role: 'tool' as const, callId: made?.id ?? '', name: 'look_up', text: 'found' },
    ];
    const two = await ask({ messages: [asked, ...turn], tools: [TOOL] });
    const three = await ask({ messages: [asked, ...turn, ...turn], tools: [TOOL] });

    expect(made).toEqual({ id: 'call-1', name: 'look_up', arguments: '{"id":1}' });
    expect(two.reply).toMatchObject({
      finishReason: 'tool_calls',
      toolCalls: [{ id: 'call-2', name: 'look_up', arguments: '{}' }],
    });
    expect(three.reply).toMatchObject({ finishReason: 'stop', text: 'Done.' });
  });

  it('answers what the last tool returned when its script has nothing else', async () => {
    const { reply } = await ask({
      messages: [
        { role: 'user', text: 'call look_up' },
        { role: 'assistant', text: '', toolCalls: [{ id: 'call-1', name: 'look_up', arguments: '{}' }] },
        { role: 'tool', callId: 'call-1', name: 'look_up', text: 'seven' },
      ],
      tools: [TOOL],
    });

    expect(reply.text).toBe('seven');
  });

  it('answers a schema with the smallest value that fits', async () => {
    const { reply } = await ask({
      outputSchema: {
        type: 'object',
        required: ['mood', 'score', 'tags', 'inner'],
        properties: {
          mood: { enum: ['fine', 'bad'] },
          score: { type: 'integer', minimum: 3 },
          tags: { type: 'array', minItems: 1, items: { type: 'string', minLength: 2 } },
          inner: { type: 'object', required: ['is'], properties: { is: { type: 'boolean' } } },
        },
      },
    });

    expect(JSON.parse(reply.text)).toEqual({ mood: 'fine', score: 3, tags: ['xx'], inner: { is: false } });
  });
});
