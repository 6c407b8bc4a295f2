import { type Script, sse, type WireFormat } from './wire-server.ts';

const STOP = {
  stop: 'end_turn',
  length: 'max_tokens',
  content_filter: 'refusal',
  tool_calls: 'tool_use',
} as const;

/** The Messages API of Anthropic. What it thinks is block 9, the text block 0; tool calls follow. */
export const ANTHROPIC_FORMAT: WireFormat = {
  errorBody: (message, status) => ({
    type: 'error',
    error: { type: status === 429 ? 'rate_limit_error' : 'invalid_request_error', message },
  }),
  begin: (model, { usage, text, reasoning }) => [
    sse(
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: usage?.input ?? 7, output_tokens: 1 },
        },
      },
      'message_start',
    ),
    ...(reasoning === undefined
      ? []
      : [
          sse(
            {
              type: 'content_block_start',
              index: 9,
              content_block: { type: 'thinking', thinking: '', signature: '' },
            },
            'content_block_start',
          ),
        ]),
    ...(text === undefined
      ? []
      : [
          sse(
            { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
            'content_block_start',
          ),
        ]),
  ],
  piece: (text) =>
    sse(
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      'content_block_delta',
    ),
  thought: (thinking) =>
    sse(
      { type: 'content_block_delta', index: 9, delta: { type: 'thinking_delta', thinking } },
      'content_block_delta',
    ),
  toolCalls: ({ toolCalls = [], text }) => [
    ...(text === undefined ? [] : [blockStop(0)]),
    ...toolCalls.flatMap(({ id, name, arguments: given }, at) => {
      const index = at + (text === undefined ? 0 : 1);
      return [
        sse(
          { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } },
          'content_block_start',
        ),
        sse(
          { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: given } },
          'content_block_delta',
        ),
        blockStop(index),
      ];
    }),
  ],
  end: (_model, script) => [
    sse(
      {
        type: 'message_delta',
        delta: { stop_reason: stopOf(script), stop_sequence: null },
        usage: { output_tokens: script.usage?.output ?? 3 },
      },
      'message_delta',
    ),
    sse({ type: 'message_stop' }, 'message_stop'),
  ],
};

function blockStop(index: number): string {
  return sse({ type: 'content_block_stop', index }, 'content_block_stop');
}

function stopOf({ finish, toolCalls }: Script): string {
  return STOP[finish ?? (toolCalls === undefined ? 'stop' : 'tool_calls')];
}
