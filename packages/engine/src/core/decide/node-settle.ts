import type { Json, JsonObject } from '@weft/protocol';
import type { ChannelRequest } from '../../model/node-type.ts';
import { writeChannels } from '../channels/channels.ts';
import { cancelChild } from '../children/child-signals.ts';
import { abortSteps } from '../steps/abort-steps.ts';
import { decideEdges } from './edges.ts';
import { openFrontier } from './frontier.ts';
import type { LiveRun, Batch } from './live-run.ts';
import type { NodePlan } from '../compile/plan.ts';
import { isEmpty, shownMembers, shownOutputs } from './recorder.ts';
import { withRepeated } from '../redaction/repeated-outputs.ts';
import { mayRetry, retryDelay } from './retry.ts';
import type { CompletionExtras, OfNode } from '../../model/event-payloads.ts';
import type { Payload } from '../../model/run-event.ts';
import { type NodeError, nodeKey } from '../../model/run-state.ts';
import { placeOf } from '../expressions/scope.ts';
import { hideKnown } from './node-error.ts';
import { trackSensitive } from '../redaction/sensitive.ts';
import { variableSensitivity } from '../redaction/sensitive-places.ts';
import { SensitiveReads } from '../redaction/sensitive-reads.ts';
import { asDeclared, ofMembers, recorded, type Sensitivity } from '../redaction/sensitivity.ts';

/** How a node's execution ends: with outputs, with another attempt, with an error, or untouched. */

/** What of a node's results is sensitive, before declarations are looked at. */
export interface ResultSensitivity {
  /** By port. */
  readonly outputs: Sensitivity | undefined;
  /** Of a value that the node sets or writes. */
  of(value: Json): Sensitivity | undefined;
  /** It came from outside, where a sensitive value may stand in the middle of a text: the rest of that is shown once. */
  readonly isReceived?: true;
}

export const NOTHING_SENSITIVE: ResultSensitivity = { outputs: undefined, of: () => undefined };

export interface Completion {
  readonly outputs: JsonObject;
  readonly sensitivity: ResultSensitivity;
  readonly variables?: JsonObject | undefined;
  readonly channels?: readonly ChannelRequest[] | undefined;
  /** Recorded with the outputs when something else than the node ended it. */
  readonly reason?: string | undefined;
  /** Nodes of the cycle that begins again with this. */
  readonly reenters?: readonly string[] | undefined;
  readonly causeSeq?: number | undefined;
}

export function completeNode(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  result: Completion,
): void {
  const { run } = batch;
  const { outputs, reenters, sensitivity } = result;
  const outputsText = isEmpty(outputs) ? '{}' : JSON.stringify(outputs);
  const tooLarge = tooLargeError(run, outputsText);
  if (tooLarge !== undefined) return failNode(batch, node, path, tooLarge);

  if (result.variables !== undefined)
    changeVariables(batch, node, result.variables, (_name, value) => sensitivity.of(value));
  if (result.channels !== undefined) writeChannels(batch, node, result.channels, sensitivity.of);
  const sensitive = declaredOutputs(node, outputs, sensitivity.outputs);
  if (sensitive !== undefined) trackSensitive(run);
  const rest = completionExtras(run, node, path, result, sensitive);
  const known = sensitive === undefined ? rest : { ...rest, ...recorded('sensitive', sensitive) };
  const isSearched = sensitive !== undefined && sensitivity.isReceived === true;
  const hidden = isSearched ? declaredOutputs(node, outputs, undefined) : sensitive;
  const shown = shownOutputs(node, outputs, hidden, run.masking);
  batch.record({
    type: 'node.completed',
    nodeId: node.id,
    payload: completionPayload(node, path, outputs, known),
    text: completionText(node, path, isEmpty(outputs) ? undefined : outputsText, known),
    shown: shown === outputs && known === rest ? undefined : completionPayload(node, path, shown, rest),
    causeSeq: result.causeSeq,
  });
  run.stateBytes += outputsText.length;
  if (reenters === undefined) settled(run, node, path);
  else restartCycle(run, node, path);
}

/** What of outputs is declared to be sensitive, or was computed to be. */
export function declaredOutputs(
  { sensitivePorts }: NodePlan,
  outputs: JsonObject,
  computed: Sensitivity | undefined,
): Sensitivity | undefined {
  if (computed === undefined && sensitivePorts.size === 0) return undefined;
  const sensitivityOf = withRepeated(computed, outputs, sensitivePorts);
  return ofMembers(
    Object.entries(outputs).map(([port, value]) => [
      port,
      asDeclared(sensitivityOf(port, value), sensitivePorts.get(port)),
    ]),
  );
}

/** What a cycle leads back to is offered again, exactly as a holder would offer it who folds the log. */
function restartCycle(run: LiveRun, node: NodePlan, path: readonly number[]): void {
  const key = nodeKey(node.id, path);
  run.inFlight.delete(key);
  run.timers.delete(key);
  run.frontier = openFrontier(run.plan, run.state);
}

/** `sensitivityOf` says what of the new values is sensitive, before declarations are looked at. */
export function changeVariables(
  batch: Batch,
  node: NodePlan,
  variables: JsonObject,
  sensitivityOf: (name: string, value: Json) => Sensitivity | undefined,
): void {
  const { run } = batch;
  for (const [name, next] of Object.entries(variables)) {
    const previous = run.state.variables.get(name);
    const before = variableSensitivity(run, name);
    const after = asDeclared(sensitivityOf(name, next), run.plan.variables.get(name)?.sensitive);
    if (after !== undefined) trackSensitive(run);
    const payload: Payload<'variable.changed'> = {
      name,
      ...(previous !== undefined && { previous }),
      next,
      nodeId: node.id,
    };
    const sensitivity =
      before === undefined && after === undefined
        ? undefined
        : ofMembers([
            ['previous', before],
            ['next', after],
          ]);
    batch.record({
      type: 'variable.changed',
      nodeId: node.id,
      payload: after === undefined ? payload : { ...payload, ...recorded('sensitive', after) },
      shown: shownMembers(payload, sensitivity, run.masking),
    });
  }
}

/** What a completion records besides the outputs; nearly always undefined. */
function completionExtras(
  run: LiveRun,
  node: NodePlan,
  path: readonly number[],
  { outputs, reenters, reason }: Completion,
  sensitive: Sensitivity | undefined,
): CompletionExtras | undefined {
  const reads = run.known && new SensitiveReads(run);
  if (reads !== undefined) reads.outputs = sensitive;
  const rest: CompletionExtras | undefined =
    reenters === undefined
      ? decideEdges(placeOf(run, node, path), node, outputs, reads)
      : { reenters: [...reenters] };
  return reason === undefined ? rest : { ...rest, reason };
}

function completionPayload(
  node: NodePlan,
  path: readonly number[],
  outputs: JsonObject,
  rest: CompletionExtras | undefined,
): Payload<'node.completed'> {
  const payload: Payload<'node.completed'> = identity(node, path);
  if (!isEmpty(outputs)) payload.outputs = outputs;
  return rest === undefined ? payload : Object.assign(payload, rest);
}

/** The same payload as JSON, around outputs that are serialized already: large ones are not gone through twice. */
function completionText(
  node: NodePlan,
  path: readonly number[],
  outputsText: string | undefined,
  rest: CompletionExtras | undefined,
): string {
  const iteration = path.length === 0 ? '' : `,"iteration":[${path.join(',')}]`;
  const outputs = outputsText === undefined ? '' : `,"outputs":${outputsText}`;
  const tail = rest === undefined ? '' : `,${JSON.stringify(rest).slice(1, -1)}`;
  return `${node.words.id}${iteration}${outputs}${tail}}`;
}

/** Retries while the policy allows it; otherwise the node has failed for good. */
export function failAttempt(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  error: NodeError,
  times: { readonly retryAfterMs?: number; readonly delayMs?: number } = {},
): void {
  const { run } = batch;
  const key = nodeKey(node.id, path);
  const known = run.state.nodes.get(key);
  const failures = known?.failures ?? 0;
  if (!mayRetry(node.settings.retry, error, failures)) return failNode(batch, node, path, error);
  const lastError = errorPayload(hideKnown(run, error));
  const attempt = (known?.attempt ?? 0) + 1;
  const delayMs =
    times.delayMs ?? retryDelay(node.settings.retry, failures, batch.random, times.retryAfterMs);
  batch.record({
    type: 'node.retried',
    nodeId: node.id,
    payload: { ...identity(node, path), attempt, delayMs, lastError },
  });
  run.inFlight.delete(key);
  run.timers.add(key);
  run.frontier.unhold(1);
}

export function failNode(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  error: NodeError,
  causeSeq?: number,
): void {
  const attempts = (batch.run.state.nodes.get(nodeKey(node.id, path))?.attempt ?? 0) + 1;
  batch.record({
    type: 'node.failed',
    nodeId: node.id,
    payload: { ...identity(node, path), error: errorPayload(hideKnown(batch.run, error)), attempts },
    causeSeq,
  });
  settled(batch.run, node, path);
}

export function skipNode(batch: Batch, node: NodePlan, path: readonly number[], reason: string): void {
  batch.record({ type: 'node.skipped', nodeId: node.id, payload: { ...identity(node, path), reason } });
  settled(batch.run, node, path);
}

const UNSETTLED: ReadonlySet<string> = new Set(['running', 'backoff', 'suspended']);

/** Stops everything running, in order of node key; the frontier is not asked again because the run ends with this. */
export function cancelRunningNodes(batch: Batch, reason: string): void {
  const { run } = batch;
  const active = [...run.state.nodes].filter(([, node]) => UNSETTLED.has(node.status));
  active.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [key, node] of active) {
    if (run.inFlight.delete(key)) batch.abort(key);
    if (node.steps !== undefined) abortSteps(batch, key, node);
    run.stepping.delete(key);
    run.timers.delete(key);
    run.spawning.delete(key);
    cancelChild(batch, node);
    batch.record({
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
export function identity(node: NodePlan, path: readonly number[]): OfNode {
  return path.length === 0 ? { nodeId: node.id } : { nodeId: node.id, iteration: [...path] };
}

export function errorPayload(error: NodeError): Payload<'node.failed'>['error'] {
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
  run.stepping.delete(key);
  run.timers.delete(key);
  run.frontier.unhold(1);
  run.frontier.settled(node, path);
}

export function tooLargeError(run: LiveRun, outputsText: string): NodeError | undefined {
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
