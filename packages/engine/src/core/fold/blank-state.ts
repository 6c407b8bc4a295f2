import type { Json } from '@weft/protocol';
import type { NodeState, RunState } from '../../model/run-state.ts';

/**
 * States with every field named, also those that are not set yet. All of them keep one shape from here on, which is what makes
 * the fold fast; a field that comes and goes is set to undefined, because a deleted one would turn the object into a dictionary.
 */

export function newRunState(
  variables: Map<string, Json>,
  channels: Map<string, Json>,
  lastAt: number,
  countedFrom = 0,
): RunState {
  return {
    status: 'pending',
    nextSeq: 0,
    lastAt,
    startedAt: undefined,
    endedAt: undefined,
    variables,
    channels,
    nodes: new Map(),
    executions: 0,
    activeMs: 0,
    activeSince: undefined,
    workingMs: 0,
    workingSince: undefined,
    countedFrom,
    pausedAt: undefined,
    outputs: undefined,
    error: undefined,
    failedNodeId: undefined,
    usage: undefined,
    toolCalls: 0,
    activeNodes: 0,
    delayingNodes: 0,
    suspended: [],
    pins: new Map(),
    children: [],
    visits: new Map(),
    clarifications: new Map(),
    openCalls: new Map(),
    toolDigests: new Map(),
    decisions: 0,
    openDecisions: [],
    sensitiveVariables: new Map(),
    sensitiveChannels: new Map(),
    channelVersions: new Map(),
    dueTriggers: new Map(),
    firedTriggers: new Set(),
  };
}

/** A node that is not running until an event says so. */
export function newNode(nodeId: string, iteration: readonly number[], seq: number): NodeState {
  return {
    nodeId,
    typeId: '',
    iteration,
    status: 'skipped',
    attempt: 0,
    failures: 0,
    seq,
    startedAt: undefined,
    endedAt: undefined,
    dueAt: undefined,
    outputs: undefined,
    sensitive: undefined,
    error: undefined,
    reason: undefined,
    inputs: undefined,
    sensitiveInputs: undefined,
    notTaken: undefined,
    edgeErrors: undefined,
    interrupt: undefined,
    isLoop: undefined,
    items: undefined,
    sensitiveItems: undefined,
    child: undefined,
    childInputs: undefined,
    sensitiveChildInputs: undefined,
    chunks: undefined,
    steps: undefined,
    decision: undefined,
  };
}
