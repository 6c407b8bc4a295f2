import type { LanguageModelV3 } from '@ai-sdk/provider';
import { ANTHROPIC_ANSWERS, type AnswerFormat, GEMINI_ANSWERS, OPENAI_ANSWERS } from './answer-formats.ts';

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
  readonly answers: AnswerFormat;
  /** Loads its library at the first call: each takes a moment and some memory. */
  open(model: string, place: ModelPlace): Promise<LanguageModelV3>;
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
    answers: OPENAI_ANSWERS,
    async open(model, { baseUrl, apiKey = '', fetch }) {
      const { createOpenAI } = await import('@ai-sdk/openai');
      // The older of its two interfaces: it keeps nothing on the other side.
      return createOpenAI({ baseURL: baseUrl, apiKey, fetch }).chat(model);
    },
  },
  {
    kind: 'anthropic',
    isRemote: true,
    baseUrl: 'https://api.anthropic.com/v1',
    needsKey: true,
    answers: ANTHROPIC_ANSWERS,
    async open(model, { baseUrl, apiKey = '', fetch }) {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(model);
    },
  },
  {
    kind: 'google',
    isRemote: true,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    needsKey: true,
    answers: GEMINI_ANSWERS,
    async open(model, { baseUrl, apiKey = '', fetch }) {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ baseURL: baseUrl, apiKey, fetch }).languageModel(model);
    },
  },
  {
    kind: 'openai-compatible',
    isRemote: true,
    needsKey: false,
    answers: OPENAI_ANSWERS,
    async open(model, { name, baseUrl, apiKey, fetch }) {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({
        name,
        baseURL: baseUrl,
        fetch,
        includeUsage: true,
        supportsStructuredOutputs: true,
        ...(apiKey !== undefined && { apiKey }),
      }).chatModel(model);
    },
  },
  { kind: 'mock', isRemote: false },
];

export const PROVIDER_KINDS: ReadonlyMap<string, ProviderKind> = new Map(
  KINDS.map((kind) => [kind.kind, kind]),
);
