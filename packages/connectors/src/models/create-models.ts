import {
  type ModelChoice,
  type ModelContext,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
  type Models,
  NodeFailure,
  type OfferedModels,
} from '@weft/engine';
import { askRemote, SilentFailure } from './ask-remote.ts';
import { askMock } from './mock-provider.ts';
import {
  MODEL_CLASSES,
  type ModelName,
  type ModelsConfig,
  type ProviderConfig,
  splitName,
} from './models-config.ts';
import { checkPolicy, unresolvedCredential } from './provider-policy.ts';
import { createStreamPace, type StreamPace } from './stream-pace.ts';

/** A model that was chosen for a run, with what is needed to ask it. */
interface Chosen {
  readonly name: ModelName;
  readonly config: ProviderConfig;
  /** Id of a secret of the run's tenant. */
  readonly credentialRef: string | undefined;
  readonly operatorSecrets: ModelChoice['operatorSecrets'];
}

/** The models of a config file. The policy of a provider is asked for every call, before its key is read. */
export function createModels(config: ModelsConfig): Models {
  const pace = createStreamPace();

  function choose(name: ModelName, choice: ModelChoice, credentialRef: string | undefined): Chosen {
    const provider = config.providers.get(name.provider);
    if (provider === undefined) throw unknownProvider(config);
    if (credentialRef !== undefined && !provider.kind.isRemote) throw noCredentials(name.provider);
    checkPolicy(provider.policy, name, credentialRef !== undefined);
    return { name, config: provider, credentialRef, operatorSecrets: choice.operatorSecrets };
  }

  /** Others stand in only for a model that was asked with the operator's key: a run's own credential is for its provider alone. */
  function standIns(first: Chosen, choice: ModelChoice): Chosen[] {
    if (first.credentialRef !== undefined) return [];
    return config.fallback
      .filter(({ provider, model }) => provider !== first.name.provider || model !== first.name.model)
      .flatMap((name) => {
        try {
          return [choose(name, choice, undefined)];
        } catch (error) {
          if (error instanceof NodeFailure) return [];
          throw error;
        }
      });
  }

  return {
    offered: offeredBy(config),
    providerFor(choice) {
      const first = choose(chosenName(config, choice), choice, textOf(choice, 'ai.credentialRef'));
      return providerOf(first, standIns(first, choice), pace);
    },
  };
}

function providerOf(first: Chosen, others: readonly Chosen[], pace: StreamPace): ModelProvider {
  return {
    id: first.name.provider,
    model: first.name.model,
    async call(request, context) {
      let failed: SilentFailure | undefined;
      for (const chosen of [first, ...others]) {
        const { provider, model } = chosen.name;
        if (chosen !== first && context.meter?.mayAsk(provider, model) === false) continue;
        try {
          const reply = await ask(chosen, request, context, pace);
          return chosen === first ? reply : { ...reply, provider, asked: model };
        } catch (error) {
          if (!(error instanceof SilentFailure)) throw error;
          // What the run asked for says why; what stood in for it is a detail.
          failed ??= error;
        }
      }
      throw (
        failed ?? new NodeFailure('provider_unavailable', 'No model could be asked.', { retryable: true })
      );
    },
  };
}

async function ask(
  chosen: Chosen,
  request: ModelRequest,
  context: ModelContext,
  pace: StreamPace,
): Promise<ModelReply> {
  const { config, name } = chosen;
  const { kind } = config;
  if (!kind.isRemote) return askMock(request, name.model, context);
  const apiKey = await keyOf(chosen, context);
  return askRemote({ config, kind, model: name.model, apiKey, pace }, request, context);
}

async function keyOf(
  { config, credentialRef, operatorSecrets }: Chosen,
  { secrets }: ModelContext,
): Promise<string | undefined> {
  if (credentialRef === undefined) {
    return config.secretId === undefined ? undefined : operatorSecrets?.resolve(config.secretId);
  }
  try {
    return await secrets.resolve(credentialRef);
  } catch (error) {
    const isUnresolved = error instanceof NodeFailure && error.code === 'credential_unavailable';
    throw isUnresolved && config.policy.mode === 'required' ? unresolvedCredential(config.name) : error;
  }
}

/** `ai.provider` of the run goes before the provider in the model's name; a bare name is one of the default provider. */
function chosenName(config: ModelsConfig, choice: ModelChoice): ModelName {
  const given = choice.model;
  const provider = textOf(choice, 'ai.provider');
  if (provider !== undefined) {
    const model = given ?? (config.default?.provider === provider ? config.default.model : undefined);
    if (!config.providers.has(provider)) throw unknownProvider(config);
    if (model === undefined) throw noModel('Name one in configurable["ai.model"] too.');
    const split = splitName(model);
    return split?.provider === provider ? split : { provider, model };
  }
  if (given === undefined) return defaultFor(config, choice);
  const split = splitName(given);
  if (split !== undefined && config.providers.has(split.provider)) return split;
  if (split !== undefined || config.default === undefined) throw unknownProvider(config);
  return { provider: config.default.provider, model: given };
}

function defaultFor(config: ModelsConfig, { modelClass = '' }: ModelChoice): ModelName {
  const model = config.classes.get(modelClass) ?? config.default;
  if (model !== undefined) return model;
  throw noModel('Name one as PROVIDER/MODEL, or have the operator set models.default.');
}

function offeredBy(config: ModelsConfig): OfferedModels {
  return {
    default: config.default && nameText(config.default),
    classes: config.default === undefined ? [...config.classes.keys()] : [...MODEL_CLASSES],
    fallback: config.fallback.map(nameText),
    providers: [...config.providers.values()].map(({ name, kind, baseUrl, policy }) => ({
      name,
      kind: kind.kind,
      ...(baseUrl !== '' && { baseUrl }),
      takesCredentials: kind.isRemote,
      policy,
    })),
  };
}

function nameText({ provider, model }: ModelName): string {
  return `${provider}/${model}`;
}

function textOf({ configurable }: ModelChoice, key: string): string | undefined {
  const value = configurable[key];
  return typeof value === 'string' ? value : undefined;
}

function unknownProvider({ providers }: ModelsConfig): NodeFailure {
  return new NodeFailure(
    'validation_error',
    `This host has no such provider of models; it has ${[...providers.keys()].join(', ')}. A model is named PROVIDER/MODEL.`,
    { details: { field: 'model' } },
  );
}

function noModel(wayOut: string): NodeFailure {
  return new NodeFailure('validation_error', `No model is named. ${wayOut}`, { details: { field: 'model' } });
}

function noCredentials(provider: string): NodeFailure {
  return new NodeFailure('credential_forbidden', `The provider "${provider}" takes no credential of a run.`, {
    details: { provider },
  });
}
