import type { Json } from '@weft/protocol';
import type { ModelProvider, ModelReply, ModelRequest, Models } from '../../../ports/models.ts';

const USAGE = { promptTokens: 2, completionTokens: 3, totalTokens: 5 };

export interface Script {
  readonly requests: ModelRequest[];
  readonly models: Models;
}

type Said = Partial<ModelReply> & { readonly calls?: readonly [name: string, given: Json][] };

/** Answers turn after turn by its script; the last answer is repeated. */
export function scripted(...turns: readonly (Said | (() => Said))[]): Script {
  const requests: ModelRequest[] = [];
  const provider: ModelProvider = {
    id: 'script',
    async call(request, { emit, onReasoning }) {
      const turn = request.messages.filter(({ role }) => role === 'assistant').length;
      requests.push(request);
      const said = turns[Math.min(turn, turns.length - 1)] ?? {};
      const { calls = [], ...reply } = typeof said === 'function' ? said() : said;
      const text = reply.text ?? '';
      const { reasoning = '' } = reply;
      // In two pieces, as models do.
      for (const isLast of reasoning === '' ? [] : [false, true])
        onReasoning?.(isLast ? reasoning.slice(5) : reasoning.slice(0, 5), isLast);
      emit({ chunk: text, isLast: true });
      return {
        text,
        model: request.model ?? 'script-1',
        finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
        usage: USAGE,
        ...(calls.length > 0 && {
          toolCalls: calls.map(([name, given], index) => ({
            id: `c${turn}-${index}`,
            name,
            arguments: typeof given === 'string' ? given : JSON.stringify(given),
          })),
        }),
        ...reply,
      };
    },
  };
  return { requests, models: { providerFor: () => provider } };
}
