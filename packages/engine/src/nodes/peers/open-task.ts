import type { JsonObject } from '@weft/protocol';
import type { StepRecord } from '../../model/node-type.ts';
import type { PeerTask, PeerTaskRef, PeerTaskState } from '../../ports/peers.ts';

const ENDED: ReadonlySet<PeerTaskState> = new Set(['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED']);

/** The newest word of the peer about its task; the steps before it and after it say nothing of one. */
export function lastTask(history: readonly StepRecord[]): PeerTask | undefined {
  const last = history.findLast(({ result }) => result !== undefined && 'state' in result);
  return last?.result === undefined ? undefined : taskOf(last.result);
}

/** A task that the peer may still be at work on. */
export function openTask(history: readonly StepRecord[]): PeerTaskRef | undefined {
  const { taskId, state } = lastTask(history) ?? {};
  const peer = history[0]?.result?.['peer'];
  if (taskId === undefined || state === undefined || ENDED.has(state) || typeof peer !== 'string')
    return undefined;
  return { peer, taskId };
}

/** A step records what the port has given. */
export function taskOf(result: JsonObject): PeerTask {
  return result as JsonObject & PeerTask;
}
