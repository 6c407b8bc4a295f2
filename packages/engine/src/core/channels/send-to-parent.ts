import { type ChannelRequest, NodeFailure } from '../../model/node-type.ts';
import type { ChannelCommand } from '../../ports/store.ts';
import type { LiveRun, Batch } from '../decide/live-run.ts';
import { isSensitive, type Sensitivity } from '../redaction/sensitivity.ts';

/** What a child can say of a write to its parent before it is sent; the rest is the parent's to evaluate (parent-channels.ts). */
export function checkParent({ record }: LiveRun): void {
  // The parent of a replay is its source's, and has heard it then.
  if (record.parent !== undefined || record.fork?.mode === 'replay') return;
  throw new NodeFailure(
    'validation_error',
    'config.to is "parent", but this run was not started by another one. Start it as a child, or leave config.to out.',
    { details: { field: 'to' } },
  );
}

const ENGINE_ID = 'weft';

export function sendToParent(
  batch: Batch,
  writer: ChannelCommand['writer'],
  { channel, value }: ChannelRequest,
  sensitivity: Sensitivity | undefined,
): void {
  const { run } = batch;
  const { parent, runId } = run.record;
  const payload = { nodeId: writer.nodeId, channel };
  const seq = batch.record({ type: 'weft.channel.sent', nodeId: writer.nodeId, payload });
  if (parent === undefined) return;
  batch.notify({
    runId: parent.runId,
    commandId: `channel:${runId}:${seq}`,
    command: {
      type: 'channel',
      channel,
      value,
      sourceRunId: runId,
      sourceEngineId: ENGINE_ID,
      sourceSequence: seq,
      writer,
      ...(isSensitive(sensitivity ?? run.redactor.echoes(value)) && { sensitive: true }),
    },
  });
}
