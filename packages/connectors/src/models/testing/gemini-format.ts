import type { Json, JsonObject } from '@weft/protocol';
import { type Script, sse, type WireFormat } from './wire-server.ts';

const STOP = { stop: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY', tool_calls: 'STOP' } as const;

const parts = (...given: JsonObject[]): string =>
  sse({ candidates: [{ index: 0, content: { role: 'model', parts: given } }] });

/** `streamGenerateContent` of Gemini, with `alt=sse`. */
export const GEMINI_FORMAT: WireFormat = {
  errorBody: (message, status) => ({
    error: { code: status, message, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INVALID_ARGUMENT' },
  }),
  begin: () => [],
  piece: (text) => parts({ text }),
  thought: (text) => parts({ text, thought: true }),
  toolCalls: ({ toolCalls = [] }) =>
    toolCalls.map(({ name, arguments: text }) =>
      parts({ functionCall: { name, args: JSON.parse(text) as Json } }),
    ),
  end: (model, script) => [
    sse({
      candidates: [
        { index: 0, content: { role: 'model', parts: [{ text: '' }] }, finishReason: stopOf(script) },
      ],
      modelVersion: model,
      usageMetadata: {
        promptTokenCount: script.usage?.input ?? 7,
        candidatesTokenCount: script.usage?.output ?? 3,
        totalTokenCount: (script.usage?.input ?? 7) + (script.usage?.output ?? 3),
      },
    }),
  ],
};

function stopOf({ finish }: Script): string {
  return STOP[finish ?? 'stop'];
}
