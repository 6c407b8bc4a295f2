import { HostError } from '@weft/protocol';
import type { RunLog, RunRow } from '../../ports/store.ts';
import type { Runs } from '../../host/host.ts';
import { snapshotOf } from './snapshot-of.ts';
import type { RunStates } from './states.ts';

export interface StateAtDependencies {
  readonly store: RunLog;
  readonly states: RunStates;
}

/** A run as it stood right after one of its events: the same fold and the same masks as now, over fewer events. */
export function createStateAt({ store, states }: StateAtDependencies): Pick<Runs, 'stateAt'> {
  return {
    async stateAt(caller, runId, at) {
      const row = await store.readRun(runId, caller.tenant);
      if (row === undefined) return undefined;
      const seq = at ?? row.nextSeq - 1;
      if (seq >= row.nextSeq) throw outOfRange(row, seq);
      const { plan, state } = await states.upTo(row.record, seq + 1);
      if (state.nextSeq <= seq) throw prefixGone(row);
      const snapshot = await snapshotOf(plan, row.record, state, { status: state.status });
      return { ...snapshot, weft: { ...(snapshot['weft'] as object), asOf: seq } };
    },
  };
}

function outOfRange({ nextSeq }: RunRow, at: number): HostError {
  const max = nextSeq - 1;
  const problem =
    nextSeq === 0
      ? 'The run has no events yet; leave "at" out, or ask again later.'
      : `The run has ${nextSeq} events, so "at" can be 0 to ${max}.`;
  return new HostError('sequence_out_of_range', problem, { field: 'at', at, max });
}

/** A fork keeps only what comes after the cut; when its source is removed, the beginning goes with it. */
function prefixGone({ record: { runId, fork } }: RunRow): HostError {
  return new HostError(
    'run_expired',
    'The beginning of this run’s log went with the run it was forked from.',
    {
      runId,
      ...(fork !== undefined && { sourceRunId: fork.sourceRunId, fromSeq: fork.fromSeq }),
    },
  );
}
