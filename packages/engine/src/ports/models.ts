import type { JsonObject } from '@weft/protocol';
import type { EffectContext, Secrets } from '../model/node-type.ts';

/** The language models that a host can ask: `HostOptions.models`. */
export interface Models {
  /** The one that answers; undefined when this host has none for it. Throws NodeFailure where the tenant may not use it. */
  providerFor(choice: ModelChoice): ModelProvider | undefined;
  /** What there is, for discovery and for those who choose. */
  readonly offered?: OfferedModels;
}

export interface OfferedModels {
  /** `PROVIDER/MODEL`, asked where none is named. */
  readonly default?: string | undefined;
  /** Kinds of models that agents of packs may ask for. */
  readonly classes?: readonly string[];
  /** Asked in this order when another one fails. */
  readonly fallback: readonly string[];
  readonly providers: readonly OfferedProvider[];
}

export interface OfferedProvider {
  readonly name: string;
  readonly kind: string;
  readonly baseUrl?: string | undefined;
  /** Runs may bring a credential of their tenant. */
  readonly takesCredentials: boolean;
  readonly policy: ModelPolicy;
}

export const POLICY_MODES = ['disabled', 'optional', 'required', 'restricted'] as const;

/** The code under which a policy refuses. */
export const POLICY_DENIED = 'provider_policy_denied';

/** Who may ask a provider for what. */
export interface ModelPolicy {
  readonly mode: (typeof POLICY_MODES)[number];
  /** Names of models, `*` for any characters; of `restricted` alone. */
  readonly allowedModels?: readonly string[] | undefined;
}

export interface ModelChoice {
  /** As the node names it: `PROVIDER/MODEL`, or absent for the host's default. */
  readonly model?: string | undefined;
  /** The kind of model to ask where none is named. */
  readonly modelClass?: string | undefined;
  /** Options with which the run was created. */
  readonly configurable: JsonObject;
  /** Secrets of the operator, not of the run's tenant: the host gives them. What they resolve is hidden as every secret is. */
  readonly operatorSecrets?: Secrets | undefined;
}

export const NO_MODELS: Models = { providerFor: () => undefined };

/**
 * A provider answers one request; text comes in pieces through `emit`, the last of them marked, and
 * the whole as the reply. It throws NodeFailure, retryable where another attempt may help.
 */
export interface ModelProvider {
  readonly id: string;
  /** As it will be asked for, without the provider; prices and budgets know it by that. */
  readonly model?: string | undefined;
  call(request: ModelRequest, context: ModelContext): Promise<ModelReply>;
}

export interface ModelRequest {
  readonly model?: string;
  /** The kind of model to ask where none is named: the operator says which one that is. */
  readonly modelClass?: string;
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
export interface ModelContext
  extends Pick<EffectContext, 'signal' | 'invocationId' | 'emit' | 'egress' | 'secrets' | 'holdsClaim'> {
  /** Hears how the model comes to its answer, piece by piece, where that is wanted; the last piece is marked. */
  readonly onReasoning?: ((text: string, isLast: boolean) => void) | undefined;
  /** Where the call counts as one of a run. */
  readonly meter?: CallMeter | undefined;
}

export interface CallMeter {
  /** Whether another model may be asked in place of the one that failed. */
  mayAsk(provider: string, model: string): boolean;
  /**
   * A request is being made. `spent` says what it has used so far by the word of the provider, undefined while that has said nothing. Call
   * what is returned at its end: a reply tells its own usage, and whatever else became of the request is counted by `spent`.
   */
  begin(spent: () => SpentCall | undefined): (hasReply: boolean) => void;
}

export interface SpentCall {
  readonly provider: string;
  readonly model: string;
  /** As it was asked for, where the answer names it otherwise. */
  readonly asked?: string | undefined;
  readonly usage: Usage;
}

export interface ModelReply {
  readonly text: string;
  readonly model: string;
  /** Where it is not the one that was asked. */
  readonly provider?: string | undefined;
  /** Of that one: the model as it was asked for. */
  readonly asked?: string | undefined;
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
  /** Of the prompt's: read from the provider's cache, and written to it. */
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
}

/** Metadata of the last chunk: every typed slot for which there is a value. */
export function closingMeta({ finishReason, usage, model, toolCalls }: Omit<ModelReply, 'text'>): JsonObject {
  return {
    finishReason,
    model,
    usage: tokensOf(usage),
    ...(toolCalls !== undefined && { toolCalls: toolCalls.map((call) => ({ ...call })) }),
  };
}

/** The counts that every provider gives. */
export function tokensOf({ promptTokens, completionTokens, totalTokens }: Usage): JsonObject {
  return { promptTokens, completionTokens, totalTokens };
}
