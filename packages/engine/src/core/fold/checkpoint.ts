import type { Json } from '@weft/protocol';
import { newNode, newRunState } from './blank-state.ts';
import { parseCooperatively } from '../json/large-json.ts';
import type { NodeState, RunState } from '../../model/run-state.ts';
import type { Sensitivity } from '../redaction/sensitivity.ts';
import { finish, type CooperativeTask } from '../json/cooperative-task.ts';

/** Grows whenever `evolve` or this encoding changes meaning; a checkpoint of another version is ignored and the log folded. */
export const FOLD_VERSION = 11;

type Collections =
  | 'variables'
  | 'channels'
  | 'nodes'
  | 'pins'
  | 'visits'
  | 'clarifications'
  | 'openCalls'
  | 'toolDigests'
  | 'sensitiveVariables'
  | 'sensitiveChannels'
  | 'channelVersions'
  | 'dueTriggers'
  | 'firedTriggers';

interface Encoded extends Omit<RunState, Collections> {
  variables: [string, Json][];
  channels: [string, Json][];
  nodes: [string, NodeState][];
  pins: [string, number][];
  visits: [string, number][];
  clarifications: [string, number][];
  openCalls: [string, number][];
  toolDigests: [string, string][];
  sensitiveVariables: [string, Sensitivity][];
  sensitiveChannels: [string, Sensitivity][];
  channelVersions: [string, (readonly [number, number])[]][];
  dueTriggers: [string, number][];
  firedTriggers: string[];
}

export function encodeState(state: RunState): string {
  const encoded: Encoded = {
    ...state,
    variables: [...state.variables],
    channels: [...state.channels],
    nodes: [...state.nodes],
    pins: [...state.pins],
    visits: [...state.visits],
    clarifications: [...state.clarifications],
    openCalls: [...state.openCalls],
    toolDigests: [...state.toolDigests],
    sensitiveVariables: [...state.sensitiveVariables],
    sensitiveChannels: [...state.sensitiveChannels],
    channelVersions: [...state.channelVersions],
    dueTriggers: [...state.dueTriggers],
    firedTriggers: [...state.firedTriggers],
  };
  return JSON.stringify(encoded);
}

const BLANK_NODE = newNode('', [], 0);

export function decodeState(text: string): RunState {
  return finish(decodeCooperatively(text));
}

/** The same in short steps, so that the event loop stays free. */
export function* decodeCooperatively(text: string): CooperativeTask<RunState> {
  const encoded = (yield* parseCooperatively(text)) as unknown as Encoded;
  const blank = newRunState(new Map(), new Map(), 0);
  return {
    ...blank,
    ...encoded,
    variables: new Map(encoded.variables),
    channels: new Map(encoded.channels),
    nodes: new Map(encoded.nodes.map(([key, node]) => [key, { ...BLANK_NODE, ...node }])),
    pins: new Map(encoded.pins),
    visits: new Map(encoded.visits),
    clarifications: new Map(encoded.clarifications),
    openCalls: new Map(encoded.openCalls),
    toolDigests: new Map(encoded.toolDigests),
    sensitiveVariables: new Map(encoded.sensitiveVariables),
    sensitiveChannels: new Map(encoded.sensitiveChannels),
    channelVersions: new Map(encoded.channelVersions),
    dueTriggers: new Map(encoded.dueTriggers),
    firedTriggers: new Set(encoded.firedTriggers),
  };
}
