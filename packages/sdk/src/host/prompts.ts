import { endpointOf, type JsonObject } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import { type PagePromise, pagedList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

export type PromptKind = 'system' | 'user' | 'few-shot' | 'schema-hint';

export interface PromptVariable {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object';
  readonly required: boolean;
  readonly source?: 'input';
  readonly defaultValue?: JsonObject[string];
  readonly description?: string;
}

export interface NewPrompt {
  readonly templateId: string;
  /** Semantic; each names one text. */
  readonly version: string;
  readonly kind: PromptKind;
  /** Holds `{{name}}` where a variable stands. */
  readonly text: string;
  readonly name?: string;
  readonly description?: string;
  readonly variables?: readonly PromptVariable[];
  readonly modelHints?: {
    readonly modelClass?: string;
    readonly temperature?: number;
    readonly maxTokens?: number;
    readonly envelopeType?: string;
  };
  readonly tags?: readonly string[];
  readonly meta?: { readonly author?: string };
}

export interface Prompt extends Omit<NewPrompt, 'meta'> {
  readonly meta?: {
    readonly author?: string;
    readonly createdAt: string;
    readonly updatedAt: string;
    readonly source: 'host' | 'pack' | 'user';
  };
}

export interface PromptQuery {
  readonly kind?: PromptKind;
  /** All of them must be there. */
  readonly tag?: readonly string[];
  readonly modelClass?: string;
  readonly source?: 'host' | 'pack' | 'user';
  readonly limit?: number;
  readonly cursor?: string;
}

export interface RenderPrompt {
  /** `prompt:ID` or `prompt:ID@VERSION`. */
  readonly ref: string;
  readonly variables?: JsonObject;
  /** With `untrusted`, values stand between marks. */
  readonly contentTrust?: 'trusted' | 'untrusted';
}

export interface PromptRendering {
  readonly hash: string;
  /** With the version that was used. */
  readonly refs: readonly string[];
  readonly variableHashes: Readonly<Record<string, string>>;
  readonly contentTrust?: 'trusted' | 'untrusted';
}

export interface Prompts {
  /** Adds a template, or another version of one. */
  create(prompt: NewPrompt): ApiPromise<Prompt>;
  /** The newest version of each. */
  list(query?: PromptQuery): PagePromise<Prompt>;
  get(templateId: string, options?: { readonly version?: string }): ApiPromise<Prompt>;
  /** Adds a version that is newer than all of the template. */
  update(prompt: NewPrompt): ApiPromise<Prompt>;
  /** With all its versions. */
  remove(templateId: string): ApiPromise<void>;
  /** Asks no model. */
  render(request: RenderPrompt): ApiPromise<PromptRendering>;
}

export function createPrompts(transport: Transport): Prompts {
  return {
    create: (prompt) => transport.json(endpointOf('createPrompt'), { body: prompt }),
    list: ({ tag, ...query } = {}) =>
      pagedList(transport, endpointOf('listPrompts'), 'items', {
        ...query,
        ...(tag !== undefined && { tag: tag.join(',') }),
      }),
    get: (templateId, options) =>
      transport.json(endpointOf('getPrompt', { templateId }), { query: { ...options } }),
    update: (prompt) =>
      transport.json(endpointOf('updatePrompt', { templateId: prompt.templateId }), { body: prompt }),
    remove: (templateId) => transport.json(endpointOf('removePrompt', { templateId })),
    render: (request) => transport.json(endpointOf('renderPrompt'), { body: request }),
  };
}
