import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider';
import {
  closingMeta,
  type FinishReason,
  type ModelReply,
  type ModelToolCall,
  NodeFailure,
  type Usage,
} from '@weft/engine';
import type { GatheredChunks } from './gathered-chunks.ts';
import type { LiveText } from './live-text.ts';

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;

const MOST_TOOL_CALLS = 128;

/** What a model has said so far. */
interface Heard {
  text: string;
  reasoning: string;
  readonly toolCalls: ModelToolCall[];
  model: string;
  finish: Finish | undefined;
}

/** Where an answer is handed on as it comes. */
export interface Listeners {
  readonly chunks: GatheredChunks;
  readonly live: LiveText;
  readonly reasoning: GatheredChunks;
}

/** Takes an answer as it comes, hands its text on, and returns the whole. Throws what broke it, after reporting the usage. */
export async function readStream(
  parts: AsyncIterable<LanguageModelV3StreamPart>,
  model: string,
  listeners: Listeners,
): Promise<ModelReply> {
  const heard: Heard = { text: '', reasoning: '', toolCalls: [], model, finish: undefined };
  for await (const part of parts) {
    if (part.type === 'error') throw part.error;
    hear(heard, part, listeners);
  }
  const reply = replyOf(heard);
  if (heard.reasoning !== '') listeners.reasoning.end({});
  listeners.chunks.end(closingMeta(reply));
  return reply;
}

function hear(heard: Heard, part: LanguageModelV3StreamPart, { live, reasoning }: Listeners): void {
  switch (part.type) {
    case 'text-delta':
      // It thought first, and is shown to have.
      reasoning.flush();
      heard.text += part.delta;
      live.said(part.delta);
      return;
    case 'reasoning-delta':
      heard.reasoning += part.delta;
      reasoning.add(part.delta);
      return;
    case 'tool-call':
      if (heard.toolCalls.length >= MOST_TOOL_CALLS) throw tooManyCalls();
      heard.toolCalls.push({
        id: part.toolCallId,
        name: part.toolName,
        arguments: part.input.toWellFormed(),
      });
      return;
    case 'response-metadata':
      if (part.modelId !== undefined && part.modelId !== '') heard.model = part.modelId;
      return;
    case 'finish':
      heard.finish = part;
      return;
    default:
      return;
  }
}

function replyOf({ text, reasoning, toolCalls, model, finish }: Heard): ModelReply {
  return {
    text: text.toWellFormed(),
    model,
    finishReason: finishReason(finish, toolCalls.length > 0),
    usage: usageOf(finish?.usage),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(reasoning !== '' && { reasoning: reasoning.toWellFormed() }),
  };
}

/** A stream that just ends, without saying why, has lost its rest. */
function finishReason(finish: Finish | undefined, hasCalls: boolean): FinishReason {
  if (finish === undefined || finish.finishReason.unified === 'error') throw brokenStream();
  const { unified, raw } = finish.finishReason;
  switch (unified) {
    case 'stop':
      return hasCalls ? 'tool_calls' : 'stop';
    case 'length':
      return 'length';
    case 'content-filter':
      return 'content_filter';
    case 'tool-calls':
      return 'tool_calls';
    case 'other':
      if (raw === undefined) throw brokenStream();
      return hasCalls ? 'tool_calls' : 'stop';
  }
}

function usageOf(usage: LanguageModelV3Usage | undefined): Usage {
  const { cacheRead = 0, cacheWrite = 0 } = usage?.inputTokens ?? {};
  const promptTokens = usage?.inputTokens.total ?? 0;
  const completionTokens = usage?.outputTokens.total ?? 0;
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(cacheRead > 0 && { cacheReadTokens: cacheRead }),
    ...(cacheWrite > 0 && { cacheWriteTokens: cacheWrite }),
  };
}

function brokenStream(): NodeFailure {
  return new NodeFailure('provider_unavailable', 'The answer of the model broke off.', {
    retryable: true,
    details: { reason: 'stream_broken' },
  });
}

function tooManyCalls(): NodeFailure {
  return new NodeFailure(
    'provider_protocol_error',
    `The model asked for more than ${MOST_TOOL_CALLS} tool calls in one turn.`,
    { details: { reason: 'tool_calls', limit: MOST_TOOL_CALLS } },
  );
}
