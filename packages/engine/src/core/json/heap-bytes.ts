import type { Json, JsonObject } from '@weft/protocol';
import type { CreationRecord, RunState } from '../../model/run-state.ts';

/**
 * About how much memory a value takes while it is held, which is no matter of its text: `[{},{},{}]` takes twenty times the
 * bytes of its text, a long string no more than them. Measured on V8, and rounded up rather than down.
 */
const OBJECT = 72;
const MEMBER = 48;
const LIST = 40;
const ELEMENT = 12;
const STRING = 24;

/** Not counted much further than `most`. */
export function heapBytesOf(value: Json, most = Number.POSITIVE_INFINITY): number {
  let bytes = 0;
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined && bytes <= most; next = open.pop()) {
    if (typeof next === 'string') bytes += STRING + next.length;
    else if (Array.isArray(next)) {
      bytes += LIST + ELEMENT * next.length;
      for (const element of next) if (!isFlat(element)) open.push(element);
    } else if (typeof next === 'object' && next !== null) {
      bytes += OBJECT;
      for (const name in next) {
        bytes += MEMBER;
        const member = next[name];
        if (member !== undefined && !isFlat(member)) open.push(member);
      }
    }
  }
  return bytes;
}

/** Takes no more than its place. */
function isFlat(value: Json): boolean {
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

/** What a run takes in addition to its values: its holder, plan position, timers. */
const RUN = 8 * 1024;
const NODE = 512;

/** What a run takes in memory while it is held. */
export function runBytes({ inputs, configurable, metadata }: CreationRecord, state: RunState): number {
  const ofRecord = heapBytesOf(inputs) + heapBytesOf(configurable) + heapBytesOf(metadata);
  return RUN + ofRecord + stateBytes(state, inputs);
}

/** The same of its state alone, without those of its variables that are `inputs` themselves. */
export function stateBytes(state: RunState, inputs: JsonObject = {}): number {
  let bytes = 0;
  for (const [name, value] of state.variables)
    if (value !== inputs[name]) bytes += MEMBER + heapBytesOf(value);
  for (const value of state.channels.values()) bytes += MEMBER + heapBytesOf(value);
  for (const { outputs, inputs, items, childInputs, interrupt } of state.nodes.values()) {
    bytes += NODE;
    for (const value of [outputs, inputs, items, childInputs, interrupt?.data])
      if (value !== undefined) bytes += heapBytesOf(value);
  }
  return bytes;
}
