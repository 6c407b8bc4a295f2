import type { JsonObject } from '@weft/protocol';
import type { OutputChunk } from '../model/node-type.ts';

/** The language models that a host can ask: `HostOptions.models`. */
export interface Models {
  /** The one that answers a run with these options; undefined when this host has none for it. */
  providerFor(configurable: JsonObject): ModelProvider | undefined;
}

export const NO_MODELS: Models = { providerFor: () => undefined };

/**
 * A provider answers one request; text comes in pieces through `emit`, the last of them marked, and
 * the whole as the reply. It throws NodeFailure, retryable where another attempt may help.
 */
export interface ModelProvider {
  readonly id: string;
  call(request: ModelRequest, context: ModelContext): Promise<ModelReply>;
}

export interface ModelRequest {
  readonly model?: string;
  readonly system?: string;
  readonly prompt: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
}

export interface ModelContext {
  readonly signal: AbortSignal;
  /** Same on every repeat: the provider's idempotency key. */
  readonly invocationId: string;
  emit(chunk: OutputChunk): void;
}

export interface ModelReply {
  readonly text: string;
  readonly model: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

/** Metadata of the last chunk: every typed slot for which there is a value. */
export function closingMeta({ finishReason, usage, model, toolCalls }: Omit<ModelReply, 'text'>): JsonObject {
  return {
    finishReason,
    model,
    usage: { ...usage },
    ...(toolCalls !== undefined && { toolCalls: toolCalls.map((call) => ({ ...call })) }),
  };
}
