import type { JsonObject } from '@weft/protocol';
import { decideEdges } from './edges.ts';
import type { LiveRun, Stretch } from './live-run.ts';
import type { NodePlan } from './plan.ts';
import { shownOutputs, shownVariableChange } from './recorder.ts';
import { mayRetry, retryDelay } from './retry.ts';
import { type NodeError, nodeKey } from './run-state.ts';
import type { Place } from './scope.ts';
import { redactorFor } from './sensitive.ts';

/** How a node's execution ends: with outputs, with another attempt, with an error, or untouched. */

export interface Completion {
  readonly outputs: JsonObject;
  readonly variables?: JsonObject;
  /** Said beside the outputs when something else than the node ended it. */
  readonly reason?: string;
}

export function completeNode(stretch: Stretch, node: NodePlan, path: readonly number[], result: Completion): void {
  const { run } = stretch;
  const size = JSON.stringify(result.outputs).length;
  const tooLarge = tooLargeError(run, size);
  if (tooLarge !== undefined) return failNode(stretch, node, path, tooLarge);

  for (const [name, next] of Object.entries(result.variables ?? {})) {
    const previous = run.state.variables.get(name);
    const payload: JsonObject = { name, ...(previous !== undefined && { previous }), next, nodeId: node.id };
    stretch.record({ type: 'variable.changed', nodeId: node.id, payload, shown: shownVariableChange(run.plan, payload) });
    if (run.plan.variables.get(name)?.sensitive === true) run.redactor = redactorFor(run.plan, run.state);
  }
  const shown = shownOutputs(run.plan, node, result.outputs);
  const place: Place = { record: run.record, state: run.state, scope: node.scope, path };
  const edges = decideEdges(place, node, result.outputs);
  const withOutputs = (outputs: JsonObject): JsonObject => ({
    ...identity(node, path),
    ...(Object.keys(outputs).length > 0 && { outputs }),
    ...edges,
    ...(result.reason !== undefined && { reason: result.reason }),
  });
  stretch.record({
    type: 'node.completed',
    nodeId: node.id,
    payload: withOutputs(result.outputs),
    ...(shown !== result.outputs && { shown: withOutputs(shown) }),
  });
  run.stateBytes += size;
  if (node.sensitivePorts.size > 0) run.redactor = redactorFor(run.plan, run.state);
  settled(run, node, path);
}

/** Retries while the policy allows it; otherwise the node has failed for good. */
export function failAttempt(
  stretch: Stretch,
  node: NodePlan,
  path: readonly number[],
  error: NodeError,
  retryAfterMs?: number,
): void {
  const { run } = stretch;
  const key = nodeKey(node.id, path);
  const known = run.state.nodes.get(key);
  const failures = known?.failures ?? 0;
  if (!mayRetry(node.settings.retry, error, failures)) return failNode(stretch, node, path, error);
  const attempt = (known?.attempt ?? 0) + 1;
  const delayMs = retryDelay(node.settings.retry, failures, stretch.random, retryAfterMs);
  stretch.record({
    type: 'node.retried',
    nodeId: node.id,
    payload: { ...identity(node, path), attempt, delayMs, lastError: errorPayload(error) },
  });
  run.inFlight.delete(key);
  run.timers.add(key);
  run.frontier.unhold(1);
}

export function failNode(stretch: Stretch, node: NodePlan, path: readonly number[], error: NodeError): void {
  const attempts = (stretch.run.state.nodes.get(nodeKey(node.id, path))?.attempt ?? 0) + 1;
  stretch.record({
    type: 'node.failed',
    nodeId: node.id,
    payload: { ...identity(node, path), error: errorPayload(error), attempts },
  });
  settled(stretch.run, node, path);
}

export function skipNode(stretch: Stretch, node: NodePlan, path: readonly number[], reason: string): void {
  stretch.record({ type: 'node.skipped', nodeId: node.id, payload: { ...identity(node, path), reason } });
  settled(stretch.run, node, path);
}

/** Stops everything under way, in order of node key; the frontier is not asked again because the run ends with this. */
export function cancelRunningNodes(stretch: Stretch, reason: string): void {
  const { run } = stretch;
  const active = [...run.state.nodes].filter(([, node]) => node.status === 'running' || node.status === 'backoff');
  active.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [key, node] of active) {
    if (run.inFlight.delete(key)) stretch.abort(key);
    run.timers.delete(key);
    stretch.record({
      type: 'node.cancelled',
      nodeId: node.nodeId,
      payload: {
        nodeId: node.nodeId,
        ...(node.iteration.length > 0 && { iteration: [...node.iteration] }),
        reason,
      },
    });
  }
}

/** How an event says which execution it is about. */
export function identity(node: NodePlan, path: readonly number[]): JsonObject {
  return path.length === 0 ? { nodeId: node.id } : { nodeId: node.id, iteration: [...path] };
}

export function errorPayload(error: NodeError): JsonObject {
  return {
    code: error.code,
    message: error.message,
    ...(error.retryable !== undefined && { retryable: error.retryable }),
    ...(error.details !== undefined && { details: error.details }),
  };
}

function settled(run: LiveRun, node: NodePlan, path: readonly number[]): void {
  const key = nodeKey(node.id, path);
  run.inFlight.delete(key);
  run.timers.delete(key);
  run.frontier.unhold(1);
  run.frontier.settled(node, path);
}

function tooLargeError(run: LiveRun, size: number): NodeError | undefined {
  const { maxPayloadBytes, maxStateBytes } = run.record.limits;
  if (size > maxPayloadBytes) {
    return {
      code: 'output_too_large',
      message: `The outputs take ${size} bytes; the limit is ${maxPayloadBytes}. Keep large results outside the run and pass a reference.`,
      details: { limit: maxPayloadBytes, observed: size },
    };
  }
  const total = run.stateBytes + size;
  if (total > maxStateBytes) {
    return {
      code: 'state_too_large',
      message: `The state of the run would take about ${total} bytes; the limit is ${maxStateBytes}. Keep large results outside the run and pass references.`,
      details: { limit: maxStateBytes, observed: total },
    };
  }
  return undefined;
}
