import type { JsonObject } from '@weft/protocol';
import { NodeFailure } from '../../model/node-type.ts';
import type { ChannelCommand, CommandResult } from '../../ports/store.ts';
import { checkAccess, checkValue, recordWrite } from './channels.ts';
import type { LiveRun, Batch } from '../decide/live-run.ts';
import { toNodeError } from '../decide/node-error.ts';
import type { Reducer } from './reducers.ts';
import { ofMade } from '../redaction/sensitivity.ts';

/**
 * Channels across runs: a child writes to a channel of its parent. This is the parent's side; the child's is send-to-parent.ts.
 *
 * E-18. The write travels with the child's facts to the parent's inbox, before the signal that the child has ended.
 * E-19. Only the parent knows its channels, so only the parent evaluates the write. A rejection is a warning in the parent's
 *       log; the child has continued by then and is not notified.
 * E-20. The parent's sequence decides the order; the child's sequence is kept to compare the two logs.
 */

/** Reducers under which the order in which two runs write does not lose anything. */
const ACROSS: ReadonlySet<Reducer> = new Set(['append', 'counter', 'votes', 'feedback', 'message']);

/** The parent's side. Undefined while the run is paused: it is heard after the resume. */
export function hearChannelWrite(batch: Batch, command: ChannelCommand): CommandResult | undefined {
  const { run } = batch;
  if (run.state.status === 'paused' || run.draining) return undefined;
  const from = run.state.children.find(({ runId }) => runId === command.sourceRunId);
  if (from === undefined) return { applied: false, status: run.state.status };
  const request = { channel: command.channel, value: command.value };
  try {
    checkAcross(run, command);
    checkValue(run, request);
  } catch (error) {
    if (!(error instanceof NodeFailure)) throw error;
    sayRefused(batch, command, error);
    return { applied: false, status: run.state.status };
  }
  // What the child must not show, the parent must not either, unless the channel says otherwise.
  recordWrite(batch, request, command, command.sensitive === true ? ofMade(command.value) : undefined);
  return { applied: true, status: run.state.status, at: run.state.lastAt };
}

function checkAcross(run: LiveRun, command: ChannelCommand): void {
  const { channel: name, sourceEngineId, sourceRunId, writer } = command;
  const channel = run.plan.channels.get(name);
  if (channel === undefined) {
    throw new NodeFailure(
      'validation_error',
      `The workflow declares no channel "${name}" for a child to write to.`,
      {
        details: { channel: name },
      },
    );
  }
  if (!ACROSS.has(channel.reducer)) {
    throw new NodeFailure(
      'channel_cross_engine_write_forbidden',
      `Channel "${name}" has the reducer "${channel.reducer}", which takes no writes from other runs; use ${[...ACROSS].join(', ')}.`,
      { details: { channel: name, reducer: channel.reducer, sourceEngineId, sourceRunId } },
    );
  }
  checkAccess(channel, writer);
}

function sayRefused(batch: Batch, command: ChannelCommand, failure: NodeFailure): void {
  const { code, details = {} } = toNodeError(failure);
  const fields: JsonObject = { ...details, code, sourceRunId: command.sourceRunId };
  const shown = { level: 'warn' as const, message: failure.message, fields };
  // A replay gets the write again from here.
  batch.record({ type: 'log.appended', payload: { ...shown, refused: command }, shown });
}
