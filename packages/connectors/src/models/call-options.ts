import type {
  JSONSchema7,
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  LanguageModelV3ToolCallPart,
} from '@ai-sdk/provider';
import type { ModelMessage, ModelRequest, ModelToolCall } from '@weft/engine';

/** A request in the words of the provider libraries. */
export function callOptions(request: ModelRequest, signal: AbortSignal): LanguageModelV3CallOptions {
  const { messages, tools, outputSchema, temperature, maxTokens } = request;
  return {
    prompt: merged(messages.map(messageOf)),
    abortSignal: signal,
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(outputSchema !== undefined && {
      responseFormat: { type: 'json' as const, name: 'answer', schema: outputSchema as JSONSchema7 },
    }),
    ...(tools !== undefined &&
      tools.length > 0 && {
        tools: tools.map(({ name, description, inputSchema }) => ({
          type: 'function' as const,
          name,
          inputSchema: inputSchema as JSONSchema7,
          ...(description !== undefined && { description }),
        })),
        toolChoice: { type: 'auto' as const },
      }),
    // A schema of a workflow need not be of the subset that the strict mode takes; its answer is validated by the host.
    providerOptions: { openai: { strictJsonSchema: false } },
  };
}

function messageOf(message: ModelMessage): LanguageModelV3Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text };
    case 'user':
      return {
        role: 'user',
        content: [
          { type: 'text', text: message.text },
          ...(message.images ?? []).map(({ mediaType, bytes }) => ({
            type: 'file' as const,
            mediaType,
            data: bytes,
          })),
        ],
      };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...(message.toolCalls ?? []).map(toolCallPart),
        ],
      };
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: message.callId,
            toolName: message.name,
            output: { type: message.isError === true ? 'error-text' : 'text', value: message.text },
          },
        ],
      };
  }
}

/** Results of the calls of one turn are one message. */
function merged(messages: readonly LanguageModelV3Message[]): LanguageModelV3Message[] {
  const result: LanguageModelV3Message[] = [];
  for (const message of messages) {
    const last = result.at(-1);
    if (message.role === 'tool' && last?.role === 'tool') last.content.push(...message.content);
    else result.push(message);
  }
  return result;
}

function toolCallPart({ id, name, arguments: text }: ModelToolCall): LanguageModelV3ToolCallPart {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: parsed(text) };
}

/** What a model once gave as arguments may be anything; the wire formats want JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return { unreadable: text };
  }
}
