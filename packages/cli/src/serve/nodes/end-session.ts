import { type Endpoint, endpointOf, type TaskReport } from '@weft/protocol/plain';
import type { Standstill } from './process-messages.ts';

export interface SessionHost {
  readonly url: string;
  readonly key: string;
  readonly stuckMs: number;
}

const PATIENCE_MS = 5_000;

/** Ends the session of a process that is gone, so that its tasks need not wait for its lease. What it stood still with fails. */
export async function endSession(
  host: SessionHost,
  workerId: string,
  standstill: Standstill | undefined,
): Promise<void> {
  if (standstill?.task !== undefined) {
    const { taskId, lease, typeId } = standstill.task;
    const message =
      `The function of ${typeId} kept its process from doing anything else for ${host.stuckMs / 1_000} s` +
      `${placeText(standstill)}. Await something in between, or do the work in a thread.`;
    const error = { code: 'node_unresponsive', message, retryable: true };
    const report: TaskReport = { results: [{ taskId, lease, error }] };
    await ask(host, endpointOf('reportTasks', { workerId }), report);
  }
  await ask(host, endpointOf('closeWorker', { workerId }));
}

export function placeText({ at }: Standstill): string {
  return at === undefined ? '' : ` at ${at}`;
}

async function ask({ url, key }: SessionHost, { method, path }: Endpoint, body?: TaskReport): Promise<void> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  await response.arrayBuffer();
  if (!response.ok && response.status !== 404) throw new Error(`the host has answered ${response.status}`);
}
