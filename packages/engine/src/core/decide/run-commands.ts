import type { Command, CommandResult } from '../../ports/store.ts';
import { hearChild } from '../children/children.ts';
import type { Batch } from './live-run.ts';
import { cancelRunningNodes, identity } from './node-settle.ts';
import { finishTimer } from './node-start.ts';
import { interruptStep } from '../steps/steps.ts';
import { resolveInterrupt } from '../interrupts/interrupts.ts';
import { hearChannelWrite } from '../channels/parent-channels.ts';
import { effectOwner, isLiveStatus, isTerminalStatus, type NodeKey } from '../../model/run-state.ts';

/**
 * What people ask of a run. Each function returns the result, or undefined while a pause waits for what is in flight; the
 * caller then asks again after the next outcome.
 */
export function applyCommand(batch: Batch, command: Command): CommandResult | undefined {
  const { state } = batch.run;
  if (isTerminalStatus(state.status)) return refused(batch);
  switch (command.type) {
    case 'cancel':
      return cancelRun(batch, command);
    case 'pause':
      return pauseRun(batch, command);
    case 'resume':
      return resumeRun(batch, command);
    case 'resolve':
      return resolveInterrupt(batch, command);
    case 'child':
      return hearChild(batch, command);
    case 'channel':
      return hearChannelWrite(batch, command);
  }
}

function cancelRun(batch: Batch, command: Command & { type: 'cancel' }): CommandResult {
  cancelRunningNodes(batch, 'run-cancelled');
  batch.record({
    type: 'run.cancelled',
    payload: {
      ...(command.reason !== undefined && { reason: command.reason }),
      ...(command.by !== undefined && { cancelledBy: command.by }),
      ...(command.parentRunId !== undefined && { parentRunId: command.parentRunId }),
    },
  });
  return applied(batch);
}

/**
 * `drain-current-node` lets what runs come to its end first; a delay is brought to its end at once, because no one wants a
 * pause that takes effect tomorrow. `immediate` stops between events: delays keep their due time, and an aborted effect
 * starts again as a new attempt after the resume.
 */
function pauseRun(batch: Batch, command: Command & { type: 'pause' }): CommandResult | undefined {
  const { run } = batch;
  // A drain that began while the run was running continues, though all that is left by now may be open questions.
  const mayPause = run.state.status === 'running' || (run.draining && isLiveStatus(run.state.status));
  if (!mayPause) return refused(batch);
  if (command.policy === 'immediate') abortEffects(batch);
  else {
    run.draining = true;
    for (const key of delaysUnderWay(batch)) endDelay(batch, key);
    if (run.inFlight.size > 0) return undefined;
  }
  run.draining = false;
  batch.record({
    type: 'run.paused',
    payload: { drainPolicy: command.policy, ...(command.reason !== undefined && { reason: command.reason }) },
  });
  return applied(batch);
}

function resumeRun(batch: Batch, command: Command & { type: 'resume' }): CommandResult {
  if (batch.run.state.status !== 'paused') return refused(batch);
  const payload = command.reason === undefined ? {} : { reason: command.reason };
  batch.record({ type: 'run.resumed', payload });
  batch.run.frontier.unhold(batch.run.record.limits.concurrency);
  return applied(batch);
}

/** Each effect in flight is stopped and noted as due again, so that the resume starts a fresh attempt. */
function abortEffects(batch: Batch): void {
  const { run } = batch;
  for (const key of [...run.inFlight].sort()) {
    if (effectOwner(key).step !== undefined) {
      interruptStep(batch, key);
      continue;
    }
    const known = run.state.nodes.get(key);
    const node = known && run.plan.nodes.get(known.nodeId);
    if (known === undefined || node === undefined) continue;
    batch.abort(key);
    batch.record({
      type: 'node.retried',
      nodeId: node.id,
      payload: {
        ...identity(node, known.iteration),
        attempt: known.attempt + 1,
        delayMs: 0,
        reason: 'paused',
      },
    });
    run.inFlight.delete(key);
    run.timers.add(key);
  }
}

function delaysUnderWay(batch: Batch): NodeKey[] {
  const { run } = batch;
  return [...run.timers].filter((key) => run.state.nodes.get(key)?.status === 'running').sort();
}

function endDelay(batch: Batch, key: NodeKey): void {
  const known = batch.run.state.nodes.get(key);
  const node = known && batch.run.plan.nodes.get(known.nodeId);
  if (known === undefined || node === undefined) return;
  finishTimer(batch, node, known.iteration, 'ended early by a pause');
}

function applied(batch: Batch): CommandResult {
  const { state } = batch.run;
  return { applied: true, status: state.status, at: state.lastAt };
}

function refused(batch: Batch): CommandResult {
  const { state } = batch.run;
  return {
    applied: false,
    status: state.status,
    ...(state.pausedAt !== undefined && { pausedAt: state.pausedAt }),
  };
}
