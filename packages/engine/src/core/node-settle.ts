import type { JsonObject } from '@weft/protocol';
import type { ChannelRequest } from '../node-type.ts';
import { writeChannels } from './channels.ts';
import { cancelChild } from './child-notices.ts';
import { decideEdges } from './edges.ts';
import { openFrontier } from './frontier.ts';
import type { LiveRun, Stretch } from './live-run.ts';
import type { NodePlan } from './plan.ts';
import { isEmpty, shownOutputs, shownVariableChange } from './recorder.ts';
import { mayRetry, retryDelay } from './retry.ts';
import { type NodeError, nodeKey } from './run-state.ts';
import { placeOf } from './scope.ts';
import { redactorFor } from './sensitive.ts';

/** How a node's execution ends: with outputs, with another attempt, with an error, or untouched. */

export interface Completion {
  readonly outputs: JsonObject;
  readonly variables?: JsonObject | undefined;
  readonly channels?: readonly ChannelRequest[] | undefined;
  /** Said beside the outputs when something else than the node ended it. */
  readonly reason?: string | undefined;
  /** Nodes of the cycle that begins again with this. */
  readonly reenters?: readonly string[] | undefined;
  readonly causeSeq?: number | undefined;
}

export function completeNode(
  stretch: Stretch,
  node: NodePlan,
  path: readonly number[],
  result: Completion,
): void {
  const { run } = stretch;
  const { outputs, reenters } = result;
  const outputsText = isEmpty(outputs) ? '{}' : JSON.stringify(outputs);
  const tooLarge = tooLargeError(run, outputsText);
  if (tooLarge !== undefined) return failNode(stretch, node, path, tooLarge);

  if (result.variables !== undefined) changeVariables(stretch, node, result.variables);
  if (result.channels !== undefined) writeChannels(stretch, node, result.channels);
  const rest = besideOutputs(run, node, path, result);
  const shown = shownOutputs(run.plan, node, outputs);
  stretch.record({
    type: 'node.completed',
    nodeId: node.id,
    payload: completionPayload(node, path, outputs, rest),
    text: completionText(node, path, isEmpty(outputs) ? undefined : outputsText, rest),
    shown: shown === outputs ? undefined : completionPayload(node, path, shown, rest),
    causeSeq: result.causeSeq,
  });
  run.stateBytes += outputsText.length;
  if (node.sensitivePorts.size > 0) run.redactor = redactorFor(run.plan, run.state);
  if (reenters === undefined) settled(run, node, path);
  else goRound(run, node, path);
}

/** What a cycle leads back to is offered again, exactly as a holder would offer it who folds the log. */
function goRound(run: LiveRun, node: NodePlan, path: readonly number[]): void {
  const key = nodeKey(node.id, path);
  run.inFlight.delete(key);
  run.timers.delete(key);
  run.frontier = openFrontier(run.plan, run.state);
}

const NO_SECRETS: ReadonlySet<string> = new Set();

/** `secrets` names those whose values must not be shown although this workflow does not say so. */
export function changeVariables(
  stretch: Stretch,
  node: NodePlan,
  variables: JsonObject,
  secrets: ReadonlySet<string> = NO_SECRETS,
): void {
  const { run } = stretch;
  for (const [name, next] of Object.entries(variables)) {
    const previous = run.state.variables.get(name);
    const isSecret = secrets.has(name);
    const payload: JsonObject = {
      name,
      ...(previous !== undefined && { previous }),
      next,
      nodeId: node.id,
      ...(isSecret && { isInheritedSecret: true }),
    };
    stretch.record({
      type: 'variable.changed',
      nodeId: node.id,
      payload,
      shown: shownVariableChange(run.plan, payload, isSecret || run.state.inheritedSecrets.has(name)),
    });
    if (isSecret || run.plan.variables.get(name)?.sensitive === true)
      run.redactor = redactorFor(run.plan, run.state);
  }
}

/** What a completion says beside the outputs; undefined when nothing, as nearly always. */
function besideOutputs(
  run: LiveRun,
  node: NodePlan,
  path: readonly number[],
  { outputs, reenters, reason }: Completion,
): JsonObject | undefined {
  const rest: JsonObject | undefined =
    reenters === undefined
      ? decideEdges(placeOf(run, node, path), node, outputs)
      : { reenters: [...reenters] };
  return reason === undefined ? rest : { ...rest, reason };
}

function completionPayload(
  node: NodePlan,
  path: readonly number[],
  outputs: JsonObject,
  rest: JsonObject | undefined,
): JsonObject {
  const payload = identity(node, path);
  if (!isEmpty(outputs)) payload['outputs'] = outputs;
  return rest === undefined ? payload : Object.assign(payload, rest);
}

/** The same payload as JSON, around outputs that are serialized already: large ones are not gone through twice. */
function completionText(
  node: NodePlan,
  path: readonly number[],
  outputsText: string | undefined,
  rest: JsonObject | undefined,
): string {
  const iteration = path.length === 0 ? '' : `,"iteration":[${path.join(',')}]`;
  const outputs = outputsText === undefined ? '' : `,"outputs":${outputsText}`;
  const tail = rest === undefined ? '' : `,${JSON.stringify(rest).slice(1, -1)}`;
  return `${node.words.id}${iteration}${outputs}${tail}}`;
}

/** Retries while the policy allows it; otherwise the node has failed for good. */
export function failAttempt(
  stretch: Stretch,
  node: NodePlan,
  path: readonly number[],
  error: NodeError,
  times: { readonly retryAfterMs?: number; readonly delayMs?: number } = {},
): void {
  const { run } = stretch;
  const key = nodeKey(node.id, path);
  const known = run.state.nodes.get(key);
  const failures = known?.failures ?? 0;
  if (!mayRetry(node.settings.retry, error, failures)) return failNode(stretch, node, path, error);
  const attempt = (known?.attempt ?? 0) + 1;
  const delayMs =
    times.delayMs ?? retryDelay(node.settings.retry, failures, stretch.random, times.retryAfterMs);
  stretch.record({
    type: 'node.retried',
    nodeId: node.id,
    payload: { ...identity(node, path), attempt, delayMs, lastError: errorPayload(error) },
  });
  run.inFlight.delete(key);
  run.timers.add(key);
  run.frontier.unhold(1);
}

export function failNode(
  stretch: Stretch,
  node: NodePlan,
  path: readonly number[],
  error: NodeError,
  causeSeq?: number,
): void {
  const attempts = (stretch.run.state.nodes.get(nodeKey(node.id, path))?.attempt ?? 0) + 1;
  stretch.record({
    type: 'node.failed',
    nodeId: node.id,
    payload: { ...identity(node, path), error: errorPayload(error), attempts },
    causeSeq,
  });
  settled(stretch.run, node, path);
}

export function skipNode(stretch: Stretch, node: NodePlan, path: readonly number[], reason: string): void {
  stretch.record({ type: 'node.skipped', nodeId: node.id, payload: { ...identity(node, path), reason } });
  settled(stretch.run, node, path);
}

const UNSETTLED: ReadonlySet<string> = new Set(['running', 'backoff', 'suspended']);

/** Stops everything under way, in order of node key; the frontier is not asked again because the run ends with this. */
export function cancelRunningNodes(stretch: Stretch, reason: string): void {
  const { run } = stretch;
  const active = [...run.state.nodes].filter(([, node]) => UNSETTLED.has(node.status));
  active.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [key, node] of active) {
    if (run.inFlight.delete(key)) stretch.abort(key);
    run.timers.delete(key);
    run.spawning.delete(key);
    cancelChild(stretch, node);
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
  run.spawning.delete(key);
  run.timers.delete(key);
  run.frontier.unhold(1);
  run.frontier.settled(node, path);
}

function tooLargeError(run: LiveRun, outputsText: string): NodeError | undefined {
  const { maxPayloadBytes, maxStateBytes } = run.record.limits;
  const size = utf8Bytes(outputsText, maxPayloadBytes);
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

const utf8 = new TextEncoder();

/** A character takes at most three bytes: texts far below the limit need not be counted. */
function utf8Bytes(text: string, limit: number): number {
  return text.length * 3 <= limit ? text.length : utf8.encode(text).length;
}
