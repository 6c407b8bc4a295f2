import { endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** A provider of language models, as the host's config file has it. */
export interface ModelProviderEntry {
  readonly name: string;
  readonly kind: string;
  /** For the operator's tenant. */
  readonly baseUrl?: string;
  /** Runs may bring a credential of their tenant. */
  readonly takesCredentials: boolean;
  readonly policy: {
    readonly mode: 'disabled' | 'optional' | 'required' | 'restricted';
    readonly allowedModels?: readonly string[];
  };
}

export interface ModelList {
  /** `PROVIDER/MODEL`, asked where none is named. */
  readonly default?: string;
  readonly fallback: readonly string[];
  readonly providers: readonly ModelProviderEntry[];
}

export interface ModelTest {
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: {
    readonly promptTokens: number;
    readonly completionTokens: number;
    readonly totalTokens: number;
  };
  readonly error?: { readonly code: string; readonly message: string };
  readonly tookMs: number;
}

export interface ModelCatalogue {
  list(): ApiPromise<ModelList>;
  /** Asks a model for one word, outside of any run; the default where none is named. */
  test(model?: string): ApiPromise<ModelTest>;
}

export function createModelCatalogue(transport: Transport): ModelCatalogue {
  return {
    list: () => transport.json(endpointOf('listModels')),
    test: (model) => transport.json(endpointOf('testModel'), { body: model === undefined ? {} : { model } }),
  };
}
