import type { RunBudget, Spent } from '../core/costs/budget.ts';
import type { RunLimits } from '../model/run-state.ts';
import type { EffectRedaction, Outcome } from '../core/decide/step.ts';
import type { Models } from './models.ts';
import type { Peers } from './peers.ts';
import type { Tools } from './tools.ts';
import type {
  Artifacts,
  Memory,
  NodeEvent,
  OutputChunk,
  PromptTemplates,
  Secrets,
  Workflows,
} from '../model/node-type.ts';

/** What one performance of an effect may use of the host in addition to the network. */
export interface EffectPorts {
  readonly secrets: Secrets;
  readonly models: Models;
  readonly tools: Tools;
  readonly peers: Peers;
  readonly memory: Memory;
  readonly artifacts: Artifacts;
  readonly workflows: Workflows;
  readonly prompts: PromptTemplates;
  /** Replaces every secret resolved by this effect, in any of its usual encodings. */
  hideOutcome(outcome: Outcome): Outcome;
  /** One `provider.usage` for each model call that was made, oldest first; undefined when none was. */
  settleUsed(): readonly NodeEvent[] | undefined;
  hideChunk(chunk: OutputChunk): OutputChunk;
  /** The same of a piece of reasoning, which is a text of its own. */
  hideReasoning(text: string, isLast: boolean): string;
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
  readonly nodeId: string;
  readonly budget?: RunBudget | undefined;
  /** By the run, where it has one. */
  readonly spent?: Spent | undefined;
  /** What must be masked in addition to secrets. */
  readonly redaction?: EffectRedaction | undefined;
}

export type OpenEffectPorts = (place: EffectPlace) => EffectPorts;
