import type { RunLimits } from '../model/run-state.ts';
import type { EffectRedaction, Outcome } from '../core/decide/step.ts';
import type { Models } from './models.ts';
import type { Tools } from './tools.ts';
import type {
  Artifacts,
  Memory,
  OutputChunk,
  PromptTemplates,
  Secrets,
  Workflows,
} from '../model/node-type.ts';

/** What one performance of an effect may use of the host, beside the network. */
export interface EffectPorts {
  readonly secrets: Secrets;
  readonly models: Models;
  readonly tools: Tools;
  readonly memory: Memory;
  readonly artifacts: Artifacts;
  readonly workflows: Workflows;
  readonly prompts: PromptTemplates;
  /** Replaces every secret resolved by this effect, in any of its usual encodings. */
  hideOutcome(outcome: Outcome): Outcome;
  hideChunk(chunk: OutputChunk): OutputChunk;
}

/** The effect that asks. */
export interface EffectPlace {
  readonly tenant: string;
  readonly principal: string | undefined;
  readonly runId: string;
  /** Of the claim under which the effect is performed. */
  readonly epoch: number;
  readonly nodeKey: string;
  readonly attempt: number;
  readonly limits: RunLimits;
  /** What must not be left where others read it, beside secrets. */
  readonly redaction?: EffectRedaction | undefined;
}

export type OpenEffectPorts = (place: EffectPlace) => EffectPorts;
