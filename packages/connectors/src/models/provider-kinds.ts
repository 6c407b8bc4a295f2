import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3 } from '@ai-sdk/provider';

/** A wire format in which models are asked. */
export type ProviderKind =
  | RemoteKind
  | { readonly kind: 'mock'; readonly isRemote: false; readonly baseUrl?: undefined };

export interface RemoteKind {
  readonly kind: string;
  readonly isRemote: true;
  /** Where its maker serves it; absent where everyone serves their own. */
  readonly baseUrl?: string;
  readonly needsKey: boolean;
  open(model: string, place: ModelPlace): LanguageModelV3;
}

/** Everything is given, because what is absent the libraries take from variables of the process. */
export interface ModelPlace {
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

const KINDS: readonly ProviderKind[] = [
  {
    kind: 'openai',
    isRemote: true,
    baseUrl: 'https://api.openai.com/v1',
    needsKey: true,
    // The older of its two interfaces: it keeps nothing on the other side.
    open: (model, { baseUrl, apiKey = '', fetch }) =>
      createOpenAI({ baseURL: baseUrl, apiKey, fetch }).chat(model),
  },
  {
    kind: 'anthropic',
    isRemote: true,
    baseUrl: 'https://api.anthropic.com/v1',
    needsKey: true,
    open: (model, { baseUrl, apiKey = '', fetch }) =>
      createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(model),
  },
  {
    kind: 'google',
    isRemote: true,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    needsKey: true,
    open: (model, { baseUrl, apiKey = '', fetch }) =>
      createGoogleGenerativeAI({ baseURL: baseUrl, apiKey, fetch }).languageModel(model),
  },
  {
    kind: 'openai-compatible',
    isRemote: true,
    needsKey: false,
    open: (model, { name, baseUrl, apiKey, fetch }) =>
      createOpenAICompatible({
        name,
        baseURL: baseUrl,
        fetch,
        includeUsage: true,
        supportsStructuredOutputs: true,
        ...(apiKey !== undefined && { apiKey }),
      }).chatModel(model),
  },
  { kind: 'mock', isRemote: false },
];

export const PROVIDER_KINDS: ReadonlyMap<string, ProviderKind> = new Map(
  KINDS.map((kind) => [kind.kind, kind]),
);
