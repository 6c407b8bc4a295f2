import type { JsonObject } from '@weft/protocol';
import type { StoredEvent } from '../store.ts';
import { evolve } from './evolve.ts';
import type { Draft, LiveRun } from './live-run.ts';
import { takesRunInputs } from './node-inputs.ts';
import { maskValue } from './redaction.ts';
import { sha256Hex } from '../hash.ts';
import type { MaskingMode, NodePlan, Plan } from './plan.ts';

/**
 * Turns drafts into facts: numbers and times them, serializes each payload once, masks what the public may not see, and
 * folds the fact into the run's state.
 */
export interface Recorder {
  record(draft: Draft): number;
  readonly events: StoredEvent[];
  readonly bytes: number;
}

const NOTHING = {};

export function createRecorder(run: LiveRun, now: number): Recorder {
  const events: StoredEvent[] = [];
  let bytes = 0;

  function record(draft: Draft): number {
    const { state } = run;
    const text = draft.text ?? JSON.stringify(draft.payload);
    const shown = draft.shown ?? draft.payload;
    const shownText = draft.shown === undefined ? text : JSON.stringify(draft.shown);
    const masked = run.redactor.apply(shown, shownText);
    const publicText = masked === undefined ? shownText : JSON.stringify(masked);
    const isMasked = publicText !== text;
    const { type, nodeId, causeSeq } = draft;
    const event: StoredEvent = {
      seq: state.nextSeq,
      type,
      at: Math.max(now, state.lastAt),
      payload: publicText,
      ...(nodeId === undefined ? NOTHING : { nodeId }),
      ...(causeSeq === undefined ? NOTHING : { causeSeq }),
      ...(isMasked && { overlay: text }),
    };
    const before = run.watch?.(event);
    if (before !== undefined) record(before);
    return append(
      before === undefined ? event : { ...event, seq: state.nextSeq },
      isMasked ? draft.payload : (masked ?? shown),
    );
  }

  function append(event: StoredEvent, payload: JsonObject): number {
    const { seq, at, type, nodeId } = event;
    events.push(event);
    bytes += event.payload.length + (event.overlay?.length ?? 0);
    evolve(run.state, { seq, at, type, payload, ...(nodeId === undefined ? NOTHING : { nodeId }) });
    return seq;
  }

  return {
    events,
    get bytes() {
      return bytes;
    },
    record,
  };
}

/** A node's outputs as the public may see them: sensitive ports by the run's masking mode, raw inputs not at all. */
export function shownOutputs(plan: Plan, node: NodePlan, outputs: JsonObject): JsonObject {
  if (node.type.privateOutputs === true || takesRunInputs(node)) return {};
  if (node.sensitivePorts.size === 0) return outputs;
  const entries: [string, JsonObject[string]][] = [];
  for (const [port, value] of Object.entries(outputs)) {
    if (!node.sensitivePorts.has(port)) entries.push([port, value]);
    else appendMasked(entries, port, value, plan.maskingMode);
  }
  return Object.fromEntries(entries);
}

/** The payload of a `variable.changed` as the public may see it. */
export function shownVariableChange(plan: Plan, payload: JsonObject, isSecret = false): JsonObject {
  if (!isSecret && plan.variables.get(String(payload['name']))?.sensitive !== true) return payload;
  const entries: [string, JsonObject[string]][] = [];
  for (const [field, value] of Object.entries(payload)) {
    if (field === 'previous' || field === 'next') appendMasked(entries, field, value, plan.maskingMode);
    else if (field !== 'isInheritedSecret') entries.push([field, value]);
  }
  return Object.fromEntries(entries);
}

function appendMasked(
  entries: [string, JsonObject[string]][],
  name: string,
  value: JsonObject[string],
  mode: MaskingMode,
): void {
  const masked = maskValue(value, mode, sha256Hex);
  if (masked !== undefined) entries.push([name, masked]);
}
