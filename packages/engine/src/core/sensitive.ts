import type { Json } from '@weft/protocol';
import { sha256Hex } from '../hash.ts';
import type { ChannelPlan, Plan, VariablePlan } from './plan.ts';
import { createRedactor, type Redactor } from './redaction.ts';
import type { RunState } from './run-state.ts';

/** What of a plan is sensitive, and the redactor of runs that hold nothing sensitive: most runs of most plans. */
interface SensitiveParts {
  readonly variables: readonly VariablePlan[];
  readonly channels: readonly ChannelPlan[];
  readonly hasPorts: boolean;
  readonly plain: Redactor;
}

const partsOfPlans = new WeakMap<Plan, SensitiveParts>();

/** The redactor for what this run must not show as of now; to be asked for again when a sensitive value has changed. */
export function redactorFor(plan: Plan, state: RunState): Redactor {
  const parts = sensitiveParts(plan);
  const sensitive = sensitiveValues(parts, plan, state);
  if (sensitive.length === 0) return parts.plain;
  return createRedactor({ mode: plan.maskingMode, sensitive, sha256Hex, publicNames: namesIn(plan) });
}

function sensitiveParts(plan: Plan): SensitiveParts {
  const known = partsOfPlans.get(plan);
  if (known !== undefined) return known;
  const parts: SensitiveParts = {
    variables: [...plan.variables.values()].filter(({ sensitive }) => sensitive),
    channels: [...plan.channels.values()].filter(({ sensitive }) => sensitive),
    hasPorts: [...plan.nodes.values()].some(({ sensitivePorts }) => sensitivePorts.size > 0),
    plain: createRedactor({ mode: plan.maskingMode, sensitive: [], sha256Hex }),
  };
  partsOfPlans.set(plan, parts);
  return parts;
}

/** The values of a run that must not appear in clear anywhere: sensitive variables and outputs of sensitive ports. */
function sensitiveValues(parts: SensitiveParts, plan: Plan, state: RunState): Json[] {
  const values: Json[] = [];
  const add = (value: Json | undefined): void => {
    if (value !== undefined) values.push(value);
  };
  for (const { name, defaultValue } of parts.variables) {
    add(state.variables.get(name));
    add(defaultValue);
  }
  for (const name of state.inheritedSecrets) add(state.variables.get(name));
  for (const { name } of parts.channels) add(state.channels.get(name));
  if (!parts.hasPorts) return values;
  for (const node of state.nodes.values()) {
    for (const port of plan.nodes.get(node.nodeId)?.sensitivePorts ?? []) add(node.outputs?.[port]);
  }
  return values;
}

/** Ids that stand in the definition for all to see; a secret that happens to equal one must not blur the log's structure. */
function namesIn(plan: Plan): string[] {
  return [...plan.nodes.values()]
    .flatMap((node) => [node.id, node.type.typeId])
    .concat(plan.definition.id, [...plan.variables.keys()]);
}
