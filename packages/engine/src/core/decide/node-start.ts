import type { JsonObject } from '@weft/protocol';
import { NodeFailure, type NodeResult } from '../../model/node-type.ts';
import { decisionFor, startChildren } from '../children/children.ts';
import type { Batch } from './live-run.ts';
import type { Draft, Payload } from '../../model/run-event.ts';
import { checkChannelWrites } from '../channels/channels.ts';
import { nodeInput } from './node-context.ts';
import { type Finish, finishNode } from './node-finish.ts';
import { suspendNode } from '../interrupts/suspend.ts';
import { startLoop } from '../loops/loop.ts';
import { toHiddenError, toNodeError } from './node-error.ts';
import { mustFreezeInputs, resolveInputs } from './node-inputs.ts';
import { failAttempt, failNode, NOTHING_SENSITIVE } from './node-settle.ts';
import type { NodePlan } from '../compile/plan.ts';
import { breachCap } from './run-end.ts';
import { newReads, type NodeWork } from './node-work.ts';
import { computedSensitivity } from '../redaction/result-sensitivity.ts';
import { nodeKey } from '../../model/run-state.ts';
import { placeOf } from '../expressions/scope.ts';
import type { SensitiveReads } from '../redaction/sensitive-reads.ts';
import { isSensitive, recorded, type Sensitivity } from '../redaction/sensitivity.ts';

type Started = Payload<'node.started'>;

/** Begins one attempt of a node: refuses what may not start, runs what is pure, asks for what is not. */
export function startNode(batch: Batch, node: NodePlan, path: readonly number[]): void {
  const { run } = batch;
  const { type } = node;
  const missing = type.requires?.find((capability) => !run.capabilities.has(capability));
  if (missing !== undefined) {
    return failNode(batch, node, path, {
      code: 'capability_not_provided',
      message: `Node type ${type.typeId} requires the capability "${missing}", which this host does not provide.`,
      details: { capability: missing },
    });
  }
  const limit = run.record.limits.nodeExecutions;
  if (run.state.executions + 1 > limit) {
    return breachCap(batch, { kind: 'node-executions', limit, observed: limit + 1, nodeId: node.id });
  }
  const attempt = run.state.nodes.get(nodeKey(node.id, path))?.attempt ?? 0;
  const place = placeOf(run, node, path);
  const started = startedPayload(node, path, attempt);
  const start: Draft<'node.started'> = {
    type: 'node.started',
    nodeId: node.id,
    payload: started,
    text: path.length === 0 && attempt === 0 ? node.words.started : undefined,
  };

  const reads = newReads(run);
  let inputs: JsonObject;
  try {
    inputs = resolveInputs(run.plan, place, node, reads);
  } catch (error) {
    batch.record(start);
    return failAttempt(batch, node, path, toNodeError(error));
  }
  const work: NodeWork = { inputs, reads };
  switch (type.kind) {
    case 'pure':
      batch.record(start);
      return runPure(batch, node, path, work);
    case 'timer':
      return startTimer(batch, node, path, work, started);
    case 'effect':
    case 'steps':
      return startPerforming(batch, node, path, work, start);
    case 'loop':
      return startLoop(batch, node, path, work, started);
    case 'interrupt':
      batch.record(start);
      return suspendNode(batch, node, path, () => type.ask(nodeInput(batch, node, path, inputs, reads)), {
        work,
      });
    case 'children': {
      const decisionSeq = decisionFor(run, node, path)?.seq;
      const hidden = {
        ...(mustFreezeInputs(node) && { inputs }),
        ...(decisionSeq !== undefined && { decisionSeq }),
      };
      batch.record(withHidden(start, hidden));
      return startChildren(batch, node, path, inputs);
    }
  }
}

function startPerforming(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  { inputs, reads }: NodeWork,
  start: Draft<'node.started'>,
): void {
  const key = nodeKey(node.id, path);
  const given = givenSensitivity(reads);
  // What is sensitive is kept with the node: an answer is searched for it, after a takeover too.
  const isFrozen = given !== undefined || mustFreezeInputs(node);
  batch.record(isFrozen ? withHidden(start, { inputs, ...recorded('sensitiveInputs', given) }) : start);
  if (node.type.kind === 'steps') return void batch.run.stepping.add(key);
  batch.run.inFlight.add(key);
  batch.perform(node, path, inputs, given);
}

function startedPayload({ id, type }: NodePlan, path: readonly number[], attempt: number): Started {
  return path.length === 0
    ? { nodeId: id, typeId: type.typeId, attempt }
    : { nodeId: id, iteration: [...path], typeId: type.typeId, attempt };
}

function givenSensitivity(reads: SensitiveReads | undefined): Sensitivity | undefined {
  const given = reads?.inputs;
  return isSensitive(given) ? given : undefined;
}

/** The same start with something that only the fold may see. */
function withHidden(
  { type, nodeId, payload }: Draft<'node.started'>,
  hidden: Partial<Started>,
): Draft<'node.started'> {
  return { type, nodeId, payload: { ...payload, ...hidden }, shown: payload };
}

/** A timer node whose time has come, or whose attempt has timed out before it. */
export function finishTimer(batch: Batch, node: NodePlan, path: readonly number[], endedBy?: string): void {
  const { run } = batch;
  const { type } = node;
  if (type.kind !== 'timer') return;
  const place = placeOf(run, node, path);
  const known = run.state.nodes.get(nodeKey(node.id, path));
  const waitedMs = (known?.dueAt ?? 0) - (known?.startedAt ?? 0);
  try {
    const reads = newReads(run);
    const inputs = resolveInputs(run.plan, place, node, reads);
    const mayBeTimeout =
      endedBy === undefined && node.settings.timeoutMs > 0 && waitedMs === node.settings.timeoutMs;
    if (mayBeTimeout && type.delayMs(nodeInput(batch, node, path, inputs)) > waitedMs) {
      throw new NodeFailure('node_timeout', `The node took longer than its timeout of ${waitedMs} ms.`, {
        retryable: true,
      });
    }
    runPure(batch, node, path, { inputs, reads }, endedBy);
  } catch (error) {
    failAttempt(batch, node, path, toNodeError(error));
  }
}

function startTimer(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  { inputs, reads }: NodeWork,
  started: Started,
): void {
  const { type } = node;
  if (type.kind !== 'timer') return;
  let delayMs: number;
  try {
    delayMs = type.delayMs(nodeInput(batch, node, path, inputs, reads));
  } catch (error) {
    batch.record({ type: 'node.started', nodeId: node.id, payload: started });
    return failAttempt(batch, node, path, toHiddenError(error, node, reads));
  }
  const { timeoutMs } = node.settings;
  const waitMs = timeoutMs > 0 ? Math.min(delayMs, timeoutMs) : delayMs;
  batch.record({
    type: 'node.started',
    nodeId: node.id,
    payload: { ...started, delayMs: waitMs },
    ...(isSensitive(reads?.ports.get('delayMs')) && { shown: started }),
  });
  if (delayMs === 0) return finishTimer(batch, node, path);
  batch.run.timers.add(nodeKey(node.id, path));
}

/** A pure node, or the end of a timer. */
function runPure(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  work: NodeWork,
  reason?: string,
): void {
  const { type } = node;
  if (type.kind !== 'pure' && type.kind !== 'timer') return;
  const { inputs, reads } = work;
  let result: NodeResult;
  try {
    const input = nodeInput(batch, node, path, inputs, reads);
    result = type.kind === 'pure' ? type.run(input) : type.finish(input);
    if (result.channels !== undefined) checkChannelWrites(batch.run, node, result.channels);
  } catch (error) {
    return failAttempt(batch, node, path, toHiddenError(error, node, reads));
  }
  if (reads === undefined && reason === undefined) return finishNode(batch, node, path, result, PLAIN);
  const sensitivity = computedSensitivity(reads, node, inputs, result.outputs);
  finishNode(batch, node, path, result, { sensitivity, work, reason });
}

/** Of nearly every node of nearly every run; made once. */
const PLAIN: Finish = { sensitivity: NOTHING_SENSITIVE };
