import type { Json, JsonObject } from '@weft/protocol';
import type { ChildCommand, Signal } from '../../ports/store.ts';
import type { LiveRun, Batch } from '../decide/live-run.ts';
import { shownResult } from '../decide/recorder.ts';
import { isTerminalStatus, type NodeState, type ParentLink, type RunStatus } from '../../model/run-state.ts';
import { variableSensitivity } from '../redaction/sensitive-places.ts';
import { isSensitive } from '../redaction/sensitivity.ts';

/**
 * What parent and child tell each other. Both ways go through the other's inbox, written with the sender's own facts: neither
 * can have moved without a signal to the other.
 */

/** A parent that ends cancels its child, unless `propagateCancellation` is false. */
export function cancelChild(batch: Batch, node: NodeState): void {
  const { child } = node;
  const { runId, fork } = batch.run.record;
  // The child that a replay speaks of is its source's.
  if (child === undefined || !child.propagateCancellation || fork?.mode === 'replay') return;
  batch.notify({
    runId: child.runId,
    commandId: `parent:${runId}`,
    command: { type: 'cancel', reason: 'parent-cancelled', parentRunId: runId },
  });
}

/** What the parent must hear after a batch that began in status `before`. */
export function signalToParent(run: LiveRun, before: RunStatus): Signal | undefined {
  const { parent } = run.record;
  const { status } = run.state;
  if (parent === undefined || mirrored(status) === mirrored(before)) return undefined;
  return {
    runId: parent.runId,
    commandId: `child:${run.record.runId}:${run.state.nextSeq}`,
    command: childCommand(run, parent),
  };
}

/** A pause of the child is its own affair: to its parent it is still at work. */
function mirrored(status: RunStatus): RunStatus {
  return status === 'pending' || status === 'paused' ? 'running' : status;
}

function childCommand(run: LiveRun, parent: ParentLink): ChildCommand {
  const { state, plan, record } = run;
  const command: ChildCommand = {
    type: 'child',
    nodeKey: parent.nodeKey,
    childRunId: record.runId,
    status: mirrored(state.status),
  };
  if (!isTerminalStatus(state.status)) return command;
  if (state.status === 'completed') {
    const outputs = shownResult(state, plan.root, run.masking);
    return { ...command, outputs, ...collected(run, parent) };
  }
  const { error } = state;
  return error === undefined ? command : { ...command, error: { code: error.code, message: error.message } };
}

/** The variables the parent asked for, and which of them it must keep to itself. */
function collected(run: LiveRun, parent: ParentLink): Pick<ChildCommand, 'variables' | 'sensitive'> {
  const { state } = run;
  const found: [string, Json][] = [];
  for (const name of parent.collect) {
    const value = state.variables.get(name);
    if (value !== undefined) found.push([name, value]);
  }
  const variables: JsonObject = Object.fromEntries(found);
  const sensitive = Object.keys(variables).filter((name) => isSensitive(variableSensitivity(run, name)));
  return { variables, ...(sensitive.length > 0 && { sensitive }) };
}
