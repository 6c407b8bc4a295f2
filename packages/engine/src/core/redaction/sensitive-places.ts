import type { NodePlan, Plan } from '../compile/plan.ts';
import type { CreationRecord, NodeState, RunState } from '../../model/run-state.ts';
import { asDeclared, memberOf, ofMembers, type Sensitivity } from './sensitivity.ts';

/**
 * How sensitive what a run holds is, place by place: by declaration, else as the facts say that put it there. A variable that
 * no one declares is as sensitive as what it was last set from.
 */
export interface RunView {
  readonly plan: Plan;
  readonly record: CreationRecord;
  readonly state: RunState;
}

export function variableSensitivity({ plan, state }: RunView, name: string): Sensitivity | undefined {
  return asDeclared(state.sensitiveVariables.get(name), plan.variables.get(name)?.sensitive);
}

export function channelSensitivity({ plan, state }: RunView, name: string): Sensitivity | undefined {
  return asDeclared(state.sensitiveChannels.get(name), plan.channels.get(name)?.sensitive);
}

/** Of an input of the run: what its variable declares, else what the parent run says. */
export function inputSensitivity({ plan, record }: RunView, name: string): Sensitivity | undefined {
  return asDeclared(memberOf(record.sensitiveInputs, name), plan.variables.get(name)?.sensitive);
}

/** By port. `node` is its plan, where the workflow still has it. */
export function outputSensitivity(
  node: NodePlan | undefined,
  { sensitive, outputs }: Pick<NodeState, 'sensitive' | 'outputs'>,
): Sensitivity | undefined {
  if (node === undefined || node.sensitivePorts.size === 0 || outputs === undefined) return sensitive;
  return ofMembers(
    Object.keys(outputs).map((port) => [
      port,
      asDeclared(memberOf(sensitive, port), node.sensitivePorts.get(port)),
    ]),
  );
}

/** Whether there is anything to keep track of: most runs hold nothing sensitive, and pay for nothing. */
export function holdsSensitive({ plan, record, state }: RunView): boolean {
  if (plan.hasSensitive || record.sensitiveInputs !== undefined) return true;
  if (state.sensitiveVariables.size > 0 || state.sensitiveChannels.size > 0) return true;
  for (const node of state.nodes.values()) if (node.sensitive !== undefined) return true;
  return false;
}
