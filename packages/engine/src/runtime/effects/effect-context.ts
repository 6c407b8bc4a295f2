import { invocationId } from '../../core/decide/invocation-id.ts';
import type { EffectRequest } from '../../core/decide/step.ts';
import { sha256Base64Url } from '../../crypto/hash.ts';
import type {
  Artifacts,
  EffectContext,
  Egress,
  EgressRequest,
  Memory,
  OutputChunk,
  PromptTemplates,
  ReasoningPiece,
  Secrets,
  Workflows,
} from '../../model/node-type.ts';
import type { EffectPorts } from '../../ports/effect-ports.ts';
import type { Models } from '../../ports/models.ts';
import type { Peers } from '../../ports/peers.ts';
import type { Tools } from '../../ports/tools.ts';
import type { StopSource } from './stop-source.ts';
import type { EffectTask } from './performer.ts';

export interface ContextParts {
  readonly task: EffectTask;
  readonly stop: StopSource;
  readonly egress: Egress;
  readonly ports: EffectPorts;
  /** Those that the node requires, read beforehand; without them the ports' own. */
  readonly secrets: Secrets | undefined;
  readonly emit: (chunk: OutputChunk) => void;
  readonly tellReasoning: (piece: ReasoningPiece) => void;
}

/** What a node gets to perform its effect with. A class, so that what a node does not ask for is not made. */
export class PerformedEffect implements EffectContext {
  readonly attempt: number;
  readonly stop: StopSource;
  readonly emit: (chunk: OutputChunk) => void;
  readonly tellReasoning: (piece: ReasoningPiece) => void;
  readonly #parts: ContextParts;
  #egress: Egress | undefined;

  constructor(parts: ContextParts) {
    this.attempt = parts.task.effect.attempt;
    this.stop = parts.stop;
    this.emit = parts.emit;
    this.tellReasoning = parts.tellReasoning;
    this.#parts = parts;
  }

  /** Whatever request a node makes of it, it waits among those of its tenant and leaves only while the claim holds. */
  get egress(): Egress {
    return (this.#egress ??= new ClaimedEgress(this.#parts.egress, this.#parts.task));
  }

  holdsClaim(): boolean {
    return this.#parts.task.holdsClaim();
  }

  get invocationId(): string {
    return invocationOf(this.#parts.task);
  }

  get signal(): AbortSignal {
    return this.stop.asAbortSignal();
  }

  get secrets(): Secrets {
    return this.#parts.secrets ?? this.#parts.ports.secrets;
  }

  get models(): Models {
    return this.#parts.ports.models;
  }

  get tools(): Tools {
    return this.#parts.ports.tools;
  }

  get peers(): Peers {
    return this.#parts.ports.peers;
  }

  get memory(): Memory {
    return this.#parts.ports.memory;
  }

  get artifacts(): Artifacts {
    return this.#parts.ports.artifacts;
  }

  get prompts(): PromptTemplates {
    return this.#parts.ports.prompts;
  }

  get workflows(): Workflows {
    return this.#parts.ports.workflows;
  }

  get traceparent(): string | undefined {
    return this.#parts.task.traceparent?.();
  }
}

class ClaimedEgress implements Egress {
  readonly #egress: Egress;
  readonly #task: EffectTask;

  constructor(egress: Egress, task: EffectTask) {
    this.#egress = egress;
    this.#task = task;
  }

  fetch(request: EgressRequest): ReturnType<Egress['fetch']> {
    return this.#egress.fetch(underClaim(request, this.#task.holdsClaim), this.#task.tenant);
  }

  open(request: EgressRequest): ReturnType<Egress['open']> {
    return this.#egress.open(underClaim(request, this.#task.holdsClaim), this.#task.tenant);
  }
}

/** Same on every attempt and after every crash. */
export function invocationOf({ tenant, runId, effect }: EffectTask): string {
  const providerKey = effect.node.type.typeId;
  return invocationId(
    { tenant, runId, nodeId: executionOf(effect), ordinal: 0, providerKey },
    sha256Base64Url,
  );
}

/** Field by field, because a spread that is added to takes ten times as long; the type knows when one is missing. */
function underClaim(
  request: EgressRequest,
  mayLeave: () => boolean,
): { readonly [Field in keyof Required<EgressRequest>]: EgressRequest[Field] } {
  return {
    url: request.url,
    method: request.method,
    headers: request.headers,
    body: request.body,
    signal: request.signal,
    maxResponseBytes: request.maxResponseBytes,
    followRedirects: request.followRedirects,
    admits: request.admits,
    hidesReceiver: request.hidesReceiver,
    mayLeave,
  };
}

/** Another visit is another effect: it must not look like a repetition of the last one. */
export function executionOf({ key, visit = 0 }: EffectRequest): string {
  return visit === 0 ? key : `${key}#${visit}`;
}
