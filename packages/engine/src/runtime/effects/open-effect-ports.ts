import type { Json } from '@weft/protocol';
import { markedTexts } from '../../core/redaction/marked-texts.ts';
import type { PieceMask } from '../../core/redaction/scan/piece-mask.ts';
import type { Outcome } from '../../core/decide/step.ts';
import {
  type Artifacts,
  type Memory,
  type NodeEvent,
  NodeFailure,
  type OutputChunk,
  type PromptTemplates,
  type Secrets,
  type Workflows,
} from '../../model/node-type.ts';
import type { BlobUnit, ClaimRef, Documents, DocumentUnit, RunLog } from '../../ports/store.ts';
import { type ArtifactDependencies, openArtifacts, type WriteAnswer } from './artifacts.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import type { EffectPlace, EffectPorts, OpenEffectPorts } from '../../ports/effect-ports.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { HostLimits } from '../../host/limits.ts';
import { type MemoryDependencies, openMemory } from './memory.ts';
import { type ModelCosts, ModelMeter } from '../costs/metered-models.ts';
import { createSecretMask, type SecretMask } from '../secrets/mask.ts';
import type { Models } from '../../ports/models.ts';
import type { Peers } from '../../ports/peers.ts';
import type { ToolContext, Tools } from '../../ports/tools.ts';
import type { Resolution, SecretResolver } from '../../ports/secrets.ts';
import type { PromptLibrary } from '../prompts/prompt-library.ts';
import { nextHop } from '../peers/hops.ts';
import { SECRET_ID } from '../secrets/resolver.ts';
import { type DefinitionStore, openWorkflows } from './workflows.ts';

export interface EffectPortDependencies {
  readonly store: Documents & DefinitionStore & Pick<RunLog, 'readRun'>;
  readonly committer: Pick<Committer, 'submit'>;
  readonly resolver: SecretResolver;
  readonly models: Models;
  readonly tools: Tools;
  readonly peers: Peers;
  readonly costs: ModelCosts;
  readonly prompts: Pick<PromptLibrary, 'find'>;
  /** The tenant whose secrets are the operator's. */
  readonly operator: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: RandomBytes;
  readonly limits: Pick<HostLimits, 'maxArtifactBytes' | 'maxMemoryEntryBytes'>;
}

/**
 * Opens what one performance of an effect may use. What it resolves is hidden in everything that leaves it; what the run must not show is
 * hidden in what it streams and keeps outside the log. In its outcome the run still needs that: the recorder hides it.
 */
export function createOpenEffectPorts(dependencies: EffectPortDependencies): OpenEffectPorts {
  const { store, resolver, models, tools, peers, costs, prompts } = dependencies;
  const { clock, random, operator, limits } = dependencies;
  const sources: PortSources = {
    store,
    resolver,
    models,
    tools,
    peers,
    costs,
    prompts,
    operator,
    write: createWrite(dependencies),
    memory: { store, clock, maxEntryBytes: limits.maxMemoryEntryBytes },
    artifacts: { store, clock, random, maxBytes: limits.maxArtifactBytes },
  };
  return (place) => new PortsOnDemand(sources, place);
}

interface PortSources {
  readonly store: DefinitionStore & Pick<RunLog, 'readRun'>;
  readonly resolver: SecretResolver;
  readonly models: Models;
  readonly tools: Tools;
  readonly peers: Peers;
  readonly costs: ModelCosts;
  readonly prompts: Pick<PromptLibrary, 'find'>;
  readonly operator: string;
  readonly write: Write;
  readonly memory: Omit<MemoryDependencies, 'write'>;
  readonly artifacts: Omit<ArtifactDependencies, 'write'>;
}

/** Most effects use none of these, so each is made when it is first asked for. A class, to have getters that cost nothing. */
class PortsOnDemand implements EffectPorts {
  readonly #sources: PortSources;
  readonly #place: EffectPlace;
  #mask: SecretMask | undefined;
  /** Hides what the run must not show, in addition to secrets. */
  #keptMask: SecretMask | undefined;
  #resolved: [secretId: string, value: string][] | undefined;
  #chunks: PieceMask | undefined;
  #reasoning: PieceMask | undefined;
  #secrets: Secrets | undefined;
  #meter: ModelMeter | undefined;
  #memory: Memory | undefined;
  #artifacts: Artifacts | undefined;

  constructor(sources: PortSources, place: EffectPlace) {
    this.#sources = sources;
    this.#place = place;
  }

  get secrets(): Secrets {
    return (this.#secrets ??= openSecrets(this.#sources.resolver, this.#place, this.#noteResolved()));
  }

  get models(): Models {
    const { models } = this.#sources;
    const operatorSecrets = this.#openOperatorSecrets();
    this.#meter ??= new ModelMeter(this.#sources.costs, this.#place);
    return this.#meter.metered({
      providerFor: (choice) => models.providerFor({ ...choice, operatorSecrets }),
    });
  }

  settleUsed(): readonly NodeEvent[] | undefined {
    return this.#meter?.settle();
  }

  get tools(): Tools {
    const { tools } = this.#sources;
    const operatorSecrets = this.#openOperatorSecrets();
    return {
      servers: tools.servers,
      list: (server, context) => tools.list(server, withSecrets(context, operatorSecrets)),
      call: (call, context) => tools.call(call, withSecrets(context, operatorSecrets)),
    };
  }

  get peers(): Peers {
    const { peers } = this.#sources;
    const operatorSecrets = this.#openOperatorSecrets();
    return {
      names: peers.names,
      addressOf: (peer) => peers.addressOf(peer),
      card: (peer, context) => peers.card(peer, withSecrets(context, operatorSecrets)),
      send: async (message, context) => {
        const hops = await nextHop(this.#sources.store, this.#place.runId);
        return await peers.send({ ...message, hops }, withSecrets(context, operatorSecrets));
      },
      follow: (task, timeoutMs, context) =>
        peers.follow(task, timeoutMs, withSecrets(context, operatorSecrets)),
      cancel: (task, context) => peers.cancel(task, withSecrets(context, operatorSecrets)),
    };
  }

  get memory(): Memory {
    return (this.#memory ??= openMemory(
      { ...this.#sources.memory, write: this.#writeAs() },
      this.#place.tenant,
      this.#masks,
    ));
  }

  get artifacts(): Artifacts {
    return (this.#artifacts ??= openArtifacts(
      { ...this.#sources.artifacts, write: this.#writeAs() },
      this.#place,
      this.#masks,
    ));
  }

  get prompts(): PromptTemplates {
    const { prompts } = this.#sources;
    return { find: (...named) => prompts.find(this.#place.tenant, ...named) };
  }

  get workflows(): Workflows {
    return openWorkflows(this.#sources.store, this.#place.tenant);
  }

  #writeAs(): (unit: NewUnit) => Promise<WriteAnswer> {
    return (unit) => this.#sources.write(unit, this.#place);
  }

  #noteResolved(): (secretId: string, value: string) => void {
    return (secretId, value) => {
      this.#resolved ??= [];
      this.#resolved.push([secretId, value]);
      this.#openMask().add(secretId, value);
      this.#keptMask?.add(secretId, value);
    };
  }

  /** Without a mask no secret can have been resolved. */
  hideOutcome(outcome: Outcome): Outcome {
    return this.#mask === undefined ? outcome : hideOutcome(outcome, this.#mask);
  }

  hideChunk({ chunk, isLast, meta }: OutputChunk): OutputChunk {
    const mask = this.#openKeptMask();
    this.#chunks ??= mask.pieces();
    const shown = this.#chunks.next(chunk, isLast);
    if (isLast) this.#chunks = undefined;
    return { chunk: shown, isLast, ...(meta !== undefined && { meta: mask.json(meta) }) };
  }

  hideReasoning(text: string, isLast: boolean): string {
    this.#reasoning ??= this.#openKeptMask().pieces();
    const shown = this.#reasoning.next(text, isLast);
    if (isLast) this.#reasoning = undefined;
    return shown;
  }

  #openOperatorSecrets(): Secrets {
    const { resolver, operator } = this.#sources;
    return openSecrets(resolver, { tenant: operator, principal: undefined }, this.#noteResolved());
  }

  get #masks(): (sensitive: false | undefined) => SecretMask {
    return (sensitive) => (sensitive === false ? this.#openMask() : this.#openKeptMask());
  }

  #openMask(): SecretMask {
    return (this.#mask ??= createSecretMask());
  }

  #openKeptMask(): SecretMask {
    const { redaction } = this.#place;
    if (redaction === undefined) return this.#openMask();
    if (this.#keptMask !== undefined) return this.#keptMask;
    this.#keptMask = createSecretMask(markedTexts(redaction.known, redaction.masking));
    for (const [secretId, value] of this.#resolved ?? []) this.#keptMask.add(secretId, value);
    return this.#keptMask;
  }
}

/** Field by field: a context makes its parts when they are read, so that a spread of it would lack them. */
function withSecrets(context: ToolContext, operatorSecrets: Secrets): ToolContext {
  return {
    signal: context.signal,
    invocationId: context.invocationId,
    egress: context.egress,
    secrets: context.secrets,
    holdsClaim: () => context.holdsClaim(),
    operatorSecrets,
  };
}

export function openSecrets(
  resolver: SecretResolver,
  place: Pick<EffectPlace, 'tenant' | 'principal'>,
  onResolved: (secretId: string, value: string) => void,
): Secrets {
  const { tenant, principal } = place;
  return {
    async resolve(secretId) {
      if (!SECRET_ID.test(secretId)) {
        throw new NodeFailure('validation_error', 'The secretId is not one that a secret can have.', {
          details: { field: 'secretId' },
        });
      }
      const resolution = await resolver.resolve({ tenant, principal }, secretId);
      if (resolution.state !== 'resolved') throw unavailable(resolution.state, secretId);
      onResolved(secretId, resolution.value);
      return resolution.value;
    },
  };
}

const UNAVAILABLE: Readonly<Record<Exclude<Resolution['state'], 'resolved'>, (id: string) => string>> = {
  missing: (id) => `The secret "${id}" is not set. Set it with: weft secrets set ${id}`,
  unreadable: (id) =>
    `The secret "${id}" was stored with another key. Set it again with: weft secrets set ${id}`,
  off: () => 'This host resolves no secrets: it was started without a key for them.',
};

function unavailable(state: keyof typeof UNAVAILABLE, secretId: string): NodeFailure {
  return new NodeFailure('credential_unavailable', UNAVAILABLE[state](secretId), {
    details: { secretId, ...(state === 'off' && { capability: 'secrets' }) },
  });
}

/** Names that belong to the shape of an outcome, and are no data of the node. */
const OUTCOME_NAMES: ReadonlySet<string> = new Set(
  'ok outputs variables channels events ask again record breach dimension limit consumed scope error code message retryable details retryAfterMs channel value reducer ttlMs maxSize type payload causedBy kind data resumeSchema timeoutMs authRequired reason'.split(
    ' ',
  ),
);

/** An outcome is JSON once the performer has checked it. */
function hideOutcome(outcome: Outcome, mask: SecretMask): Outcome {
  return mask.json(outcome as unknown as Json, OUTCOME_NAMES) as unknown as Outcome;
}

type NewUnit = Omit<DocumentUnit, 'batchId'> | Omit<BlobUnit, 'batchId'>;
type Write = (unit: NewUnit, claim: ClaimRef) => Promise<WriteAnswer>;

/** The store refuses what a holder writes that slept past its deadline: another one may have recorded how the effect ended. */
function createWrite({ committer, random }: EffectPortDependencies): Write {
  return async (unit, { runId, epoch }) => {
    const result = await committer.submit({
      ...unit,
      batchId: randomId(random),
      whileHeld: { runId, epoch },
    });
    if (result.state === 'committed') return 'written';
    if (result.state === 'refused' && result.reason === 'document_exists') return 'exists';
    throw new NodeFailure('service_unavailable', 'The store did not take what the node wrote.', {
      retryable: true,
    });
  };
}
