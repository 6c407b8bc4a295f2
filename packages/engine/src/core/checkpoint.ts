import type { Json } from '@weft/protocol';
import type { NodeState, RunState } from './run-state.ts';

/** Grows whenever `evolve` or this encoding changes meaning; a checkpoint of another version is ignored and the log folded. */
export const FOLD_VERSION = 2;

interface Encoded extends Omit<RunState, 'variables' | 'channels' | 'nodes' | 'pins'> {
  variables: [string, Json][];
  channels: [string, Json][];
  nodes: [string, NodeState][];
  pins: [string, number][];
}

export function encodeState(state: RunState): string {
  const encoded: Encoded = {
    ...state,
    variables: [...state.variables],
    channels: [...state.channels],
    nodes: [...state.nodes],
    pins: [...state.pins],
  };
  return JSON.stringify(encoded);
}

export function decodeState(text: string): RunState {
  const encoded = JSON.parse(text) as Encoded;
  return {
    ...encoded,
    variables: new Map(encoded.variables),
    channels: new Map(encoded.channels),
    nodes: new Map(encoded.nodes),
    pins: new Map(encoded.pins),
  };
}
