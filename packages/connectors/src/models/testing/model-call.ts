import {
  type CallMeter,
  createEgress,
  type ModelContext,
  type ModelReply,
  type ModelRequest,
  NodeFailure,
  type OutputChunk,
} from '@weft/engine';
import type { Json, JsonObject } from '@weft/protocol';
import { createModels } from '../create-models.ts';
import { readModelsConfig } from '../models-config.ts';

export interface CallOptions {
  readonly config: Json;
  readonly request?: Partial<ModelRequest>;
  readonly configurable?: JsonObject;
  /** Of the run's tenant. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly operatorSecrets?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly meter?: CallMeter;
}

export interface Called {
  readonly reply: ModelReply;
  readonly chunks: readonly OutputChunk[];
  readonly reasoning: readonly string[];
  readonly provider: string;
}

const secretsOf = (values: Readonly<Record<string, string>> = {}) => ({
  resolve(id: string): Promise<string> {
    const value = values[id];
    return value === undefined
      ? Promise.reject(new NodeFailure('credential_unavailable', `The secret "${id}" is not set.`))
      : Promise.resolve(value);
  },
});

/** Admits nothing by itself: what goes out goes to the place that the configuration names. */
const egress = createEgress({ allow: [], connectTimeoutMs: 5_000 });

/** Asks as a node does, over real sockets. `chunks` is filled even when the call fails; `told` has what kind each piece is of, in their order. */
export async function callModel(
  options: CallOptions,
  chunks: OutputChunk[] = [],
  told: string[] = [],
): Promise<Called> {
  const models = createModels(readModelsConfig(options.config));
  const provider = models.providerFor({
    model: options.request?.model,
    modelClass: options.request?.modelClass,
    configurable: options.configurable ?? {},
    operatorSecrets: secretsOf(options.operatorSecrets),
  });
  if (provider === undefined) throw new Error('no provider');
  const reasoning: string[] = [];
  const context: ModelContext = {
    signal: options.signal ?? new AbortController().signal,
    invocationId: 'invocation-1',
    emit(chunk) {
      chunks.push(chunk);
      told.push('text');
    },
    egress,
    secrets: secretsOf(options.secrets),
    holdsClaim: () => true,
    onReasoning(text) {
      reasoning.push(text);
      if (text !== '') told.push('reasoning');
    },
    meter: options.meter,
  };
  const request = { messages: [{ role: 'user' as const, text: 'Speak.' }], ...options.request };
  return { reply: await provider.call(request, context), chunks, reasoning, provider: provider.id };
}
