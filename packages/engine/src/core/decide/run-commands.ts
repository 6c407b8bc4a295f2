import type { JsonObject } from '@weft/protocol';
import type { Command, Verdict } from '../../ports/store.ts';
import { hearChild } from '../children/children.ts';
import type { Stretch } from './live-run.ts';
import { cancelRunningNodes, identity } from './node-settle.ts';
import { finishTimer } from './node-start.ts';
import { resolveInterrupt } from '../interrupts/interrupts.ts';
import { hearChannelWrite } from '../channels/parent-channels.ts';
import { isLiveStatus, isTerminalStatus, type NodeKey } from '../../model/run-state.ts';

/**
 * What people ask of a run. Each function returns the verdict, or undefined while a pause waits for what is in flight; the
 * caller then asks again after the next outcome.
 */
export function applyCommand(stretch: Stretch, command: Command): Verdict | undefined {
  const { state } = stretch.run;
  if (isTerminalStatus(state.status)) return refused(stretch);
  switch (command.type) {
    case 'cancel':
      return cancelRun(stretch, command);
    case 'pause':
      return pauseRun(stretch, command);
    case 'resume':
      return resumeRun(stretch, command);
    case 'resolve':
      return resolveInterrupt(stretch, command);
    case 'child':
      return hearChild(stretch, command);
    case 'channel':
      return hearChannelWrite(stretch, command);
  }
}

function cancelRun(stretch: Stretch, command: Command & { type: 'cancel' }): Verdict {
  cancelRunningNodes(stretch, 'run-cancelled');
  stretch.record({
    type: 'run.cancelled',
    payload: {
      ...(command.reason !== undefined && { reason: command.reason }),
      ...(command.by !== undefined && { cancelledBy: command.by }),
      ...(command.parentRunId !== undefined && { parentRunId: command.parentRunId }),
    },
  });
  return applied(stretch);
}

/**
 * `drain-current-node` lets what runs come to its end first; a delay is brought to its end at once, because nobody wants a
 * pause that takes effect tomorrow. `immediate` stops between events: delays keep their due time, and an aborted effect
 * starts again as a new attempt after the resume.
 */
function pauseRun(stretch: Stretch, command: Command & { type: 'pause' }): Verdict | undefined {
  const { run } = stretch;
  // A drain that began while the run was running goes on, though all that is left by now may be open questions.
  // That a drain has begun is on no record, so a replay takes the pause it is told of.
  const isUnderWay = run.draining || run.watch !== undefined;
  const mayPause = run.state.status === 'running' || (isUnderWay && isLiveStatus(run.state.status));
  if (!mayPause) return refused(stretch);
  if (command.policy === 'immediate') abortEffects(stretch);
  else {
    run.draining = true;
    for (const key of delaysUnderWay(stretch)) endDelay(stretch, key);
    if (run.inFlight.size > 0) return undefined;
  }
  run.draining = false;
  stretch.record({
    type: 'run.paused',
    payload: { drainPolicy: command.policy, ...(command.reason !== undefined && { reason: command.reason }) },
  });
  return applied(stretch);
}

function resumeRun(stretch: Stretch, command: Command & { type: 'resume' }): Verdict {
  if (stretch.run.state.status !== 'paused') return refused(stretch);
  const payload: JsonObject = command.reason === undefined ? {} : { reason: command.reason };
  stretch.record({ type: 'run.resumed', payload });
  stretch.run.frontier.unhold(stretch.run.record.limits.concurrency);
  return applied(stretch);
}

/** Each effect in flight is stopped and noted as due again, so that the resume starts a fresh attempt. */
function abortEffects(stretch: Stretch): void {
  const { run } = stretch;
  for (const key of [...run.inFlight].sort()) {
    const known = run.state.nodes.get(key);
    const node = known && run.plan.nodes.get(known.nodeId);
    if (known === undefined || node === undefined) continue;
    stretch.abort(key);
    stretch.record({
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

function delaysUnderWay(stretch: Stretch): NodeKey[] {
  const { run } = stretch;
  return [...run.timers].filter((key) => run.state.nodes.get(key)?.status === 'running').sort();
}

function endDelay(stretch: Stretch, key: NodeKey): void {
  const known = stretch.run.state.nodes.get(key);
  const node = known && stretch.run.plan.nodes.get(known.nodeId);
  if (known === undefined || node === undefined) return;
  finishTimer(stretch, node, known.iteration, 'ended early by a pause');
}

function applied(stretch: Stretch): Verdict {
  const { state } = stretch.run;
  return { applied: true, status: state.status, at: state.lastAt };
}

function refused(stretch: Stretch): Verdict {
  const { state } = stretch.run;
  return {
    applied: false,
    status: state.status,
    ...(state.pausedAt !== undefined && { pausedAt: state.pausedAt }),
  };
}
