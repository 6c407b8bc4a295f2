import { HostError, isHostError, type JsonObject } from '@weft/protocol';
import type { Plan } from '../../core/compile/plan.ts';
import type { RunState } from '../../model/run-state.ts';
import type { ForkRequest } from '../../host/host.ts';
import type { RunRow, Store } from '../../ports/store.ts';
import { checkInputs } from '../runs/new-run-checks.ts';

/** What a request for a fork must hold to before anything is written. Each check throws a HostError that names the field. */

/** A replay repeats its source; changes need a branch. */
export function checkMode({ mode, fromSeq, overlay, values, workflowVersion }: ForkRequest): void {
  if (mode === 'branch') {
    if (fromSeq !== undefined) return;
    throw new HostError('validation_error', 'A branch needs fromSeq: the sequence to continue from.', {
      field: 'fromSeq',
    });
  }
  const changed = [
    Object.keys(overlay ?? {}).length > 0 && 'runOptionsOverlay',
    Object.keys(values ?? {}).length > 0 && 'values',
    workflowVersion !== undefined && 'workflowVersion',
  ].find((field) => typeof field === 'string');
  if (changed === undefined) return;
  throw new HostError(
    'validation_error',
    `A replay changes nothing, so ${changed} must be left out; use mode "branch" to change something.`,
    { field: changed },
  );
}

/** Where to cut; by default a replay begins at the start. */
export function cutOf({ record, nextSeq }: RunRow, { fromSeq }: ForkRequest): number {
  const cut = fromSeq ?? 0;
  const max = Math.max(nextSeq - 1, 0);
  if (cut <= max) return cut;
  throw new HostError(
    'fork_out_of_range',
    `The run has ${nextSeq} events, so it can be forked from 0 to ${max}.`,
    { field: 'fromSeq', sourceRunId: record.runId, fromSeq: cut, max },
  );
}

/**
 * What a fork needs of its source must be there still: its own private values, and its beginning where that is kept with the
 * run that the source itself was forked from. Answers the runs that must still be there when the fork is written.
 */
export async function checkHistory(
  store: Pick<Store, 'readRun'>,
  source: RunRow,
  { mode }: ForkRequest,
  cut: number,
): Promise<string[]> {
  if (source.erasedAt !== undefined) throw historyGone(source, cut, 'What this run’s masks hid was erased');
  const needed = [source.record.runId];
  if (mode === 'branch' && cut === 0) return needed;
  for (let { fork } = source.record; fork !== undefined && fork.fromSeq > 0; ) {
    const earlier = await store.readRun(fork.sourceRunId, undefined);
    if (earlier === undefined || earlier.erasedAt !== undefined)
      throw historyGone(source, cut, 'The beginning of this run’s log was removed or erased', fork.fromSeq);
    needed.push(fork.sourceRunId);
    fork = earlier.record.fork;
  }
  return needed;
}

/** What the checks have seen was taken away before the fork was written. */
export function sourceGone(source: RunRow, fromSeq: number): HostError {
  return historyGone(source, fromSeq, 'This run, or the beginning of its log, was just removed or erased');
}

function historyGone({ record }: RunRow, fromSeq: number, what: string, boundary?: number): HostError {
  return new HostError('run_expired', `${what}, so it cannot be forked from ${fromSeq}.`, {
    sourceRunId: record.runId,
    fromSeq,
    ...(boundary !== undefined && { boundary }),
  });
}

/** The error for a removed source names the request. */
export function expiredSource(error: unknown, runId: string, { fromSeq }: ForkRequest): unknown {
  if (!isHostError(error, 'run_expired') || error.details?.['sourceRunId'] !== undefined) return error;
  const details = { ...error.details, sourceRunId: runId, fromSeq: fromSeq ?? 0 };
  return new HostError('run_expired', error.message, details, { cause: error });
}

/** The log is taken over as it is, so another version must know whatever the log speaks of. */
export function checkNodes(state: RunState, plan: Plan): void {
  for (const { nodeId } of state.nodes.values()) {
    if (plan.nodes.has(nodeId)) continue;
    const { version } = plan.definition;
    throw new HostError(
      'fork_incompatible',
      `Version ${version} of the workflow has no node "${nodeId}", which the log knows. Fork before it, or use a version that has it.`,
      { field: 'workflowVersion', nodeId },
    );
  }
}

/** The inputs as the fork will have them; an error names the field that the client sent. */
export function checkValues(inputs: JsonObject, plan: Plan): void {
  try {
    checkInputs(inputs, plan);
  } catch (error) {
    if (!isHostError(error, 'validation_error')) throw error;
    const rename = (text: string): string => text.replace(/^inputs\./, 'values.');
    const field = rename(String(error.details?.['field'] ?? 'inputs'));
    throw new HostError('validation_error', rename(error.message), { ...error.details, field });
  }
}
