import type { Json } from '@weft/protocol';
import { sha256Hex } from '../hash.ts';
import type { Plan } from './plan.ts';
import { createRedactor, type Redactor } from './redaction.ts';
import type { RunState } from './run-state.ts';

/** Most plans have nothing sensitive: all their runs share one redactor. */
const plainRedactors = new WeakMap<Plan, Redactor>();

/** The redactor for what this run must not show as of now; to be asked for again when a sensitive value has changed. */
export function redactorFor(plan: Plan, state: RunState): Redactor {
  const sensitive = sensitiveValues(plan, state);
  if (sensitive.length > 0)
    return createRedactor({ mode: plan.maskingMode, sensitive, sha256Hex, publicNames: namesIn(plan) });
  let plain = plainRedactors.get(plan);
  if (plain === undefined) {
    plain = createRedactor({ mode: plan.maskingMode, sensitive: [], sha256Hex });
    plainRedactors.set(plan, plain);
  }
  return plain;
}

/** The values of a run that must not appear in clear anywhere: sensitive variables and outputs of sensitive ports. */
function sensitiveValues(plan: Plan, state: RunState): Json[] {
  const variables = [...plan.variables.values()].filter(({ sensitive }) => sensitive);
  const channels = [...plan.channels.values()].filter(({ sensitive }) => sensitive);
  const values = [
    ...variables.flatMap(({ name, defaultValue }) => [state.variables.get(name), defaultValue]),
    ...[...state.inheritedSecrets].map((name) => state.variables.get(name)),
    ...channels.map(({ name }) => state.channels.get(name)),
  ].filter((value) => value !== undefined);
  for (const node of state.nodes.values()) {
    const ports = plan.nodes.get(node.nodeId)?.sensitivePorts;
    if (ports === undefined || ports.size === 0) continue;
    for (const port of ports) {
      const value = node.outputs?.[port];
      if (value !== undefined) values.push(value);
    }
  }
  return values;
}

/** Ids that stand in the definition for all to see; a secret that happens to equal one must not blur the log's structure. */
function namesIn(plan: Plan): string[] {
  return [...plan.nodes.values()]
    .flatMap((node) => [node.id, node.type.typeId])
    .concat(plan.definition.id, [...plan.variables.keys()]);
}
