import type { JsonObject } from '@weft/protocol';
import type { EffectContext } from '../model/node-type.ts';

/** The language models that a host can ask: `HostOptions.models`. */
export interface Models {
  /** The one that answers; undefined when this host has none for it. Throws NodeFailure where the tenant may not use it. */
  providerFor(choice: ModelChoice): ModelProvider | undefined;
}

export interface ModelChoice {
  /** As the node names it: `PROVIDER/MODEL`, or absent for the host's default. */
  readonly model?: string | undefined;
  /** Options with which the run was created. */
  readonly configurable: JsonObject;
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
  /** Oldest first. */
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly OfferedTool[];
  /** JSON Schema that the text of the answer is to satisfy; the caller validates it. */
  readonly outputSchema?: JsonObject;
  readonly temperature?: number;
  readonly maxTokens?: number;
}

export type ModelMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string; readonly images?: readonly ModelImage[] }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls?: readonly ModelToolCall[] }
  /** What came of a tool call, as text for the model. */
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly isError?: boolean;
    };

export interface ModelImage {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model gave it: it may be anything. */
  readonly arguments: string;
}

/** A tool as a model sees it. */
export interface OfferedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
}

/** What a call may use of the effect that makes it. */
export type ModelContext = Pick<
  EffectContext,
  'signal' | 'invocationId' | 'emit' | 'egress' | 'secrets' | 'holdsClaim'
>;

export interface ModelReply {
  readonly text: string;
  readonly model: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly toolCalls?: readonly ModelToolCall[];
  /** What the model says of how it came to its answer, where the provider gives it. */
  readonly reasoning?: string;
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
