import type { Json, JsonObject } from '@weft/protocol';
import type { LiveRun } from '../decide/live-run.ts';
import { NOTHING_SENSITIVE, type ResultSensitivity } from '../decide/node-settle.ts';
import type { NodePlan } from '../compile/plan.ts';
import { computedOutputs, computedValue, type SensitiveReads } from './sensitive-reads.ts';
import { isSensitive } from './sensitivity.ts';

/** Of what a node has worked out itself: as sensitive as what it has read. */
export function computedSensitivity(
  reads: SensitiveReads | undefined,
  node: NodePlan,
  inputs: JsonObject,
  outputs: JsonObject,
): ResultSensitivity {
  if (reads === undefined) return NOTHING_SENSITIVE;
  return {
    outputs: computedOutputs(reads, node, inputs, outputs),
    of: (value) => computedValue(reads, node, inputs, value),
  };
}

/** Of what came from outside: it is searched for what the run must not show, and is sensitive where something is found. */
export function receivedSensitivity({ known, redactor }: LiveRun, outputs: JsonObject): ResultSensitivity {
  if (known === undefined) return NOTHING_SENSITIVE;
  const echoes = (value: Json) => redactor.echoes(value);
  return { outputs: echoes(outputs), of: echoes, isReceived: true };
}

/** Of what a node has made from something that came from outside. */
export function mixedSensitivity(
  run: LiveRun,
  reads: SensitiveReads | undefined,
  node: NodePlan,
  inputs: JsonObject,
  outputs: JsonObject,
): ResultSensitivity {
  if (reads === undefined) return NOTHING_SENSITIVE;
  const received = receivedSensitivity(run, outputs);
  const computed = computedSensitivity(reads, node, inputs, outputs);
  return isSensitive(computed.outputs) || reads.isTouched ? computed : received;
}
