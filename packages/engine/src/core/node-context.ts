import type { JsonObject } from '@weft/protocol';
import { NodeFailure, type NodeInput } from '../node-type.ts';
import { readableChannels } from './channels.ts';
import type { Stretch } from './live-run.ts';
import type { NodePlan } from './plan.ts';
import { nodeKey } from './run-state.ts';
import { expressionScope, type Place } from './scope.ts';

/** What a node gets to see of its run. */
export function nodeInput(
  stretch: Stretch,
  node: NodePlan,
  path: readonly number[],
  inputs: JsonObject,
): NodeInput {
  const { run } = stretch;
  const place: Place = { record: run.record, state: run.state, scope: node.scope, path };
  const key = nodeKey(node.id, path);
  const decision = run.state.nodes.get(key)?.decision;
  const visit = run.state.visits.get(key) ?? 0;
  return {
    nodeId: node.id,
    config: node.config,
    prepared: node.prepared,
    inputs,
    variables: run.state.variables,
    get channels() {
      return readableChannels(run, node);
    },
    iteration: path,
    visit,
    configurable: run.record.configurable,
    ...(node.node.agent !== undefined && { agent: node.node.agent }),
    ...(decision !== undefined && { decision: decision.decision }),
    get scope() {
      return expressionScope(place, { inputs, outputs: inputs, visit });
    },
    getVersion: (changeId, min, max) => pinnedVersion(stretch, node, changeId, min, max),
    log: (level, message, fields) =>
      void stretch.record({
        type: 'log.appended',
        nodeId: node.id,
        payload: { level, message, nodeId: node.id, ...(fields !== undefined && { fields }) },
      }),
  };
}

/** First use pins the newest version; every later use, also after a crash or in a fork, gets the pin. */
function pinnedVersion(stretch: Stretch, node: NodePlan, changeId: string, min: number, max: number): number {
  if (!Number.isInteger(min) || !Number.isInteger(max) || max < min) {
    throw new NodeFailure(
      'version_out_of_range',
      `getVersion("${changeId}") needs whole numbers with min ≤ max.`,
    );
  }
  const pinned = stretch.run.state.pins.get(changeId);
  if (pinned === undefined) {
    stretch.record({
      type: 'version.pinned',
      nodeId: node.id,
      payload: { changeId, version: max, nodeId: node.id },
    });
    return max;
  }
  if (pinned < min || pinned > max) {
    throw new NodeFailure(
      'version_out_of_range',
      `This run is pinned to version ${pinned} of "${changeId}", but the node now supports only ${min} to ${max}.`,
      { details: { changeId, pinnedVersion: pinned, currentMin: min, currentMax: max } },
    );
  }
  return pinned;
}
