import type { Json } from '@weft/protocol';
import { NodeFailure } from '../../model/node-type.ts';
import type { Batch } from '../decide/live-run.ts';
import {
  type Completion,
  completeNode,
  failAttempt,
  failNode,
  NOTHING_SENSITIVE,
  type ResultSensitivity,
} from '../decide/node-settle.ts';
import { toHiddenError, toNodeError } from '../decide/node-error.ts';
import { newReads, type NodeWork } from '../decide/node-work.ts';
import { expressionFailure, hiddenExpressionFailure } from '../expressions/expression-failure.ts';
import type { Expression, ExpressionScope, LoopPlan, NodePlan } from '../compile/plan.ts';
import { collectOutputs, collectSensitivity, unrecoveredFailure } from '../decide/scope-result.ts';
import { nodeKey } from '../../model/run-state.ts';
import { expressionScope, placeOf } from '../expressions/scope.ts';
import type { SensitiveReads } from '../redaction/sensitive-reads.ts';
import type { Payload } from '../../model/run-event.ts';
import { isSensitive } from '../redaction/sensitivity.ts';

/**
 * Loops run their body once per item, or while a condition holds, one iteration after the other. The items are fixed when
 * the loop starts and kept in the event's overlay, so nothing the body does can change what is iterated.
 */
export function startLoop(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  { inputs, reads }: NodeWork,
  started: Payload<'node.started'>,
): void {
  const plan = node.loop as LoopPlan;
  try {
    if (plan.items !== undefined) {
      const items = evaluate(batch, plan.items, loopScope(batch, node, path, { inputs, reads }, 0));
      if (!Array.isArray(items))
        throw new NodeFailure('loop_items_invalid', 'config.items must give an array.');
      const payload = { ...started, loop: true, itemCount: items.length };
      batch.record({
        type: 'node.started',
        nodeId: node.id,
        payload: { ...payload, items, ...(reads?.isTouched === true && { sensitiveItems: true }) },
        shown: payload,
      });
      if (items.length > plan.maxIterations) throw tooManyIterations(plan, items.length);
      if (items.length === 0) return completeNode(batch, node, path, NO_RESULTS);
    } else {
      batch.record({ type: 'node.started', nodeId: node.id, payload: { ...started, loop: true } });
      if (!wantsIteration(batch, node, path, 0)) return completeNode(batch, node, path, NO_RESULTS);
    }
  } catch (error) {
    if (!batch.run.state.nodes.has(nodeKey(node.id, path))) {
      batch.record({ type: 'node.started', nodeId: node.id, payload: started });
    }
    return failAttempt(batch, node, path, toHiddenError(error, node, reads));
  }
  batch.run.frontier.openScope(plan.body, [...path, 0]);
}

const NO_RESULTS: Completion = { outputs: { output: [] }, sensitivity: NOTHING_SENSITIVE };

/** Every node of the body has settled in the iteration that `path` ends with: continue, finish or fail. */
export function endIteration(batch: Batch, node: NodePlan, path: readonly number[]): void {
  const plan = node.loop as LoopPlan;
  const outer = path.slice(0, -1);
  const index = path.at(-1) ?? 0;
  const failure = unrecoveredFailure(batch.run.state, plan.body, path);
  if (failure !== undefined) {
    return failNode(batch, node, outer, {
      code: failure.error.code,
      message: `Iteration ${index} failed at node "${failure.nodeId}": ${failure.error.message}`,
      details: { iteration: index, nodeId: failure.nodeId },
    });
  }
  try {
    if (wantsIteration(batch, node, outer, index + 1)) {
      return batch.run.frontier.openScope(plan.body, [...outer, index + 1]);
    }
  } catch (error) {
    return failNode(batch, node, outer, toNodeError(error));
  }
  completeNode(batch, node, outer, {
    outputs: { output: iterationResults(batch, plan, outer, index + 1) },
    sensitivity: iterationSensitivity(batch, plan, outer, index + 1),
  });
}

/** The list of results is as sensitive as the most sensitive of them. */
function iterationSensitivity(
  { run }: Batch,
  plan: LoopPlan,
  path: readonly number[],
  count: number,
): ResultSensitivity {
  if (run.known === undefined) return NOTHING_SENSITIVE;
  for (let index = 0; index < count; index += 1) {
    if (isSensitive(collectSensitivity(run.state, plan.body, [...path, index])))
      return { ...NOTHING_SENSITIVE, outputs: { output: 'within' } };
  }
  return NOTHING_SENSITIVE;
}

function wantsIteration(batch: Batch, node: NodePlan, path: readonly number[], index: number): boolean {
  const plan = node.loop as LoopPlan;
  const items = batch.run.state.nodes.get(nodeKey(node.id, path))?.items;
  if (items !== undefined) return index < items.length;
  if (plan.while === undefined) return false;
  const work = { inputs: {}, reads: newReads(batch.run) };
  const holds = evaluateWhile(batch, plan.while, loopScope(batch, node, path, work, index), work.reads);
  if (typeof holds !== 'boolean')
    throw new NodeFailure('loop_condition_invalid', 'config.while must give true or false.');
  if (holds && index >= plan.maxIterations) throw tooManyIterations(plan, index + 1);
  return holds;
}

function iterationResults(batch: Batch, plan: LoopPlan, path: readonly number[], count: number): Json[] {
  const results: Json[] = [];
  for (let index = 0; index < count; index += 1) {
    const outputs = collectOutputs(batch.run.state, plan.body, [...path, index]);
    results.push(outputs['output'] ?? outputs);
  }
  return results;
}

function loopScope(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  { inputs, reads }: NodeWork,
  index: number,
): ExpressionScope {
  const { run } = batch;
  const place = placeOf(run, node, path);
  if (index === 0 || node.loop === undefined) return expressionScope(place, { inputs, index, reads });
  const before = [...path, index - 1];
  if (reads !== undefined) reads.outputs = collectSensitivity(run.state, node.loop.body, before);
  const outputs = collectOutputs(run.state, node.loop.body, before);
  return expressionScope(place, { inputs, outputs, index, reads });
}

function evaluate({ run }: Batch, expression: Expression, scope: ExpressionScope): Json {
  try {
    return expression(scope, run.budget);
  } catch (error) {
    throw expressionFailure(error);
  }
}

function evaluateWhile(
  { run }: Batch,
  condition: Expression,
  scope: ExpressionScope,
  reads: SensitiveReads | undefined,
): Json {
  try {
    return condition(scope, run.budget);
  } catch (error) {
    throw reads?.isTouched === true
      ? hiddenExpressionFailure(error, 'config.while')
      : expressionFailure(error);
  }
}

function tooManyIterations(plan: LoopPlan, wanted: number): NodeFailure {
  return new NodeFailure(
    'loop_limit_exceeded',
    `The loop wants ${wanted} iterations; config.maxIterations allows ${plan.maxIterations}.`,
    { details: { limit: plan.maxIterations, observed: wanted } },
  );
}
