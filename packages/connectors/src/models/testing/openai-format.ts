import type { JsonObject } from '@weft/protocol';
import { type Script, sse, type WireFormat } from './wire-server.ts';

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000 };

const chunk = (delta: JsonObject, finish: string | null = null): string =>
  sse({ ...head, model: 'invented', choices: [{ index: 0, delta, finish_reason: finish }] });

/** Chat completions, as OpenAI and all that imitate it stream them. */
export const OPENAI_FORMAT: WireFormat = {
  errorBody: (message, status) => ({
    error: {
      message,
      type: status === 429 ? 'rate_limit_error' : 'invalid_request_error',
      param: null,
      code: null,
    },
  }),
  begin: (model) => [
    sse({
      ...head,
      model,
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
    }),
  ],
  piece: (text) => chunk({ content: text }),
  thought: (text) => chunk({ reasoning_content: text }),
  toolCalls: ({ toolCalls = [] }) =>
    toolCalls.flatMap(({ id, name, arguments: text }, index) => [
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
    ]),
  end: (model, script) => [
    chunk({}, finishOf(script)),
    sse({
      ...head,
      model,
      choices: [],
      usage: {
        prompt_tokens: script.usage?.input ?? 7,
        completion_tokens: script.usage?.output ?? 3,
        total_tokens: (script.usage?.input ?? 7) + (script.usage?.output ?? 3),
      },
    }),
    'data: [DONE]\n\n',
  ],
};

function finishOf({ finish, toolCalls }: Script): string {
  return finish ?? (toolCalls === undefined ? 'stop' : 'tool_calls');
}
