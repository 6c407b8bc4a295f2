import type { JsonObject } from '@weft/protocol';
import type { CheckContext } from '../../suite/check.ts';
import { objectOf } from '../../suite/json-shapes.ts';

export const ACCEPT = { action: 'accept' };
/** What may be said to an answer that comes too late. */
export const TOO_LATE = [404, 409, 410, 422];

export interface WaitingRun {
  readonly runId: string;
  readonly snapshot: JsonObject;
}

/** Starts a run and waits until it waits itself. */
export async function waitingRun(
  { runs }: Pick<CheckContext, 'runs'>,
  workflowId: string,
  status: string,
): Promise<WaitingRun> {
  const runId = await runs.create(workflowId);
  return { runId, snapshot: await runs.reaches(runId, status) };
}

export async function stillWaits(
  { runs, expect }: Pick<CheckContext, 'runs' | 'expect'>,
  runId: string,
  status: string,
  after: string,
): Promise<void> {
  const snapshot = await runs.snapshot(runId);
  expect.equal(snapshot['status'], status, `the run still waits after ${after}`);
}

/** The path of the signed link that the snapshot shows; absent when it shows none. */
export function linkOf(snapshot: JsonObject): string | undefined {
  const interrupt = objectOf(snapshot['interrupt']);
  const { interruptToken, callbackUrl } = interrupt;
  if (typeof interruptToken === 'string' && interruptToken !== '')
    return `/v1/interrupts/${encodeURIComponent(interruptToken)}`;
  // Its origin is the one that the host has for others, so only the path counts.
  const [, path] =
    typeof callbackUrl === 'string' ? (/(\/v1\/interrupts\/[^/?#]+)/.exec(callbackUrl) ?? []) : [];
  return path;
}

export function tokenOf(link: string): string {
  return decodeURIComponent(link.slice('/v1/interrupts/'.length));
}
