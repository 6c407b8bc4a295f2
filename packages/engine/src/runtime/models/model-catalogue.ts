import type { ModelTest } from '@weft/protocol';
import type { ModelCatalogue } from '../../host/host.ts';
import { type Egress, NodeFailure } from '../../model/node-type.ts';
import type { ModelContext, ModelReply, Models } from '../../ports/models.ts';
import type { SecretResolver } from '../../ports/secrets.ts';
import { openSecrets } from '../effects/open-effect-ports.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { createSecretMask } from '../secrets/mask.ts';

export interface ModelCatalogueDependencies {
  readonly models: Models;
  readonly egress: Egress;
  readonly resolver: SecretResolver;
  /** The tenant whose secrets are the operator's. */
  readonly operator: string;
  readonly random: RandomBytes;
}

/** No one waits longer for an answer over HTTP. */
const PATIENCE_MS = 60_000;
const MOST_TOKENS = 16;

export function createModelCatalogue(dependencies: ModelCatalogueDependencies): ModelCatalogue {
  const { models, egress, resolver, operator, random } = dependencies;
  const { offered = { fallback: [], providers: [] } } = models;

  return {
    list: ({ tenant }) => ({
      ...(offered.default !== undefined && { default: offered.default }),
      fallback: [...offered.fallback],
      providers: offered.providers.map(({ name, kind, baseUrl, takesCredentials, policy }) => ({
        name,
        kind,
        takesCredentials,
        policy: {
          mode: policy.mode,
          ...(policy.allowedModels !== undefined && { allowedModels: [...policy.allowedModels] }),
        },
        ...(baseUrl !== undefined && tenant === operator && { baseUrl }),
      })),
    }),
    async test({ tenant, principal }, model) {
      const mask = createSecretMask();
      const context: ModelContext = {
        signal: AbortSignal.timeout(PATIENCE_MS),
        invocationId: randomId(random),
        emit: () => undefined,
        egress,
        secrets: openSecrets(resolver, { tenant, principal }, mask.add),
        holdsClaim: () => true,
      };
      const operatorSecrets = openSecrets(resolver, { tenant: operator, principal: undefined }, mask.add);
      const began = performance.now();
      const tookMs = (): number => Math.round(performance.now() - began);
      try {
        const provider = models.providerFor({ model, configurable: {}, operatorSecrets });
        if (provider === undefined) throw noModels();
        const reply = await provider.call(
          {
            messages: [{ role: 'user', text: 'Answer with the word: ready' }],
            maxTokens: MOST_TOKENS,
            ...named(model),
          },
          context,
        );
        return answered(provider.id, reply, tookMs());
      } catch (error) {
        if (!(error instanceof NodeFailure)) throw error;
        return { error: { code: error.code, message: mask.text(error.message) }, tookMs: tookMs() };
      }
    },
  };
}

function named(model: string | undefined): { readonly model?: string } {
  return model === undefined ? {} : { model };
}

function answered(asked: string, { provider = asked, model, usage }: ModelReply, tookMs: number): ModelTest {
  return { provider, model, usage: { ...usage }, tookMs };
}

function noModels(): NodeFailure {
  return new NodeFailure(
    'provider_unavailable',
    'This host has no language model. An operator configures one with "models" in the config file.',
  );
}
