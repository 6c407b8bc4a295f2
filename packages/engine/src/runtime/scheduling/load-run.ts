import { openRun } from '../../core/decide/advance.ts';
import type { LiveRun } from '../../core/decide/live-run.ts';
import { readInputs } from '../../core/json/lazy-inputs.ts';
import type { RunRow, Store } from '../../ports/store.ts';
import { runCooperatively } from '../fairness/run-cooperatively.ts';
import type { Plans } from '../workflows/plans.ts';
import { beginningOf, openReplay } from './replay-source.ts';
import type { HeldRun } from './run-actor.ts';
import type { RunStates } from '../runs/states.ts';

export interface LoadDependencies {
  readonly store: Store;
  readonly states: RunStates;
  readonly plans: Plans;
  readonly capabilities: ReadonlySet<string>;
}

/** A claimed run as the store has it, ready to go on. */
export async function loadRun(
  { store, states, plans, capabilities }: LoadDependencies,
  row: RunRow,
): Promise<Omit<HeldRun, 'holder' | 'epoch'>> {
  const begin = await beginOf(store, plans, row);
  const { plan, state, checkpointSeq } = await states.upTo(row.record, begin);
  await runCooperatively(row.record.tenant, readInputs(row.record));
  const run = openRun(plan, row.record, state, capabilities);
  const replay = row.record.fork?.mode === 'replay' ? await openReplay(store, run) : undefined;
  return {
    run,
    checkpointSeq,
    opening: replay === undefined ? [{ type: openingOf(run) }] : [],
    ...(replay !== undefined && { replay, durableSeq: row.nextSeq }),
  };
}

/** Where to fold to: to the end of the log, but for a replay that has recorded nothing yet. */
async function beginOf(store: Store, plans: Plans, { record, nextSeq }: RunRow): Promise<number> {
  const { fork, definitionDigest, tenant } = record;
  if (fork?.mode !== 'replay' || nextSeq !== fork.fromSeq || nextSeq === 0) return nextSeq;
  const plan = await plans.get(definitionDigest, tenant);
  return beginningOf(store, plan, fork.sourceRunId, nextSeq);
}

/** How a run that was loaded goes on. */
function openingOf({ state, record }: LiveRun): 'start' | 'forked' | 'recovered' {
  if (record.fork !== undefined && state.nextSeq === record.fork.fromSeq) return 'forked';
  return state.status === 'pending' ? 'start' : 'recovered';
}
