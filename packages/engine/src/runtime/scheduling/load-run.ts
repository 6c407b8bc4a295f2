import { openRun } from '../../core/decide/advance.ts';
import type { LiveRun } from '../../core/decide/live-run.ts';
import { SOURCE_MISSING } from '../../core/replay/replay.ts';
import { readInputs } from '../../core/json/lazy-inputs.ts';
import type { RunRow, Store } from '../../ports/store.ts';
import { runCooperatively } from '../fairness/run-cooperatively.ts';
import { beginningOf, openReplay } from './replay-source.ts';
import type { HeldRun } from './run-actor.ts';
import type { RunStates } from '../runs/states.ts';

export interface LoadDependencies {
  readonly store: Store;
  readonly states: RunStates;
  readonly capabilities: ReadonlySet<string>;
}

/** A claimed run as the store has it, ready to continue. */
export async function loadRun(
  { store, states, capabilities }: LoadDependencies,
  row: RunRow,
): Promise<Omit<HeldRun, 'holder' | 'epoch'>> {
  const begin = await beginOf(store, row);
  const { plan, state, checkpointSeq } = await states.upTo(row.record, begin);
  await runCooperatively(row.record.tenant, readInputs(row.record));
  const run = openRun(plan, row.record, state, capabilities);
  const { fork } = row.record;
  if (fork?.mode !== 'replay') return { run, checkpointSeq, opening: [{ type: openingOf(run) }] };
  // In a replay time passes as it did in the source, not as it does here.
  run.followsClock = false;
  const source = await openReplay(store, run);
  return {
    run,
    checkpointSeq,
    opening: source === undefined ? [{ type: openingOf(run) }] : [],
    durableSeq: row.nextSeq,
    // Cut inside a unit it decides that again first: until then its state can answer no command.
    commandsFrom: Math.max(row.nextSeq, fork.fromSeq + 1),
    unperformed: SOURCE_MISSING,
    ...(source !== undefined && { source }),
  };
}

/** Where to fold to: to the end of the log, but for a replay that has recorded nothing yet. */
async function beginOf(store: Store, { record: { fork }, nextSeq }: RunRow): Promise<number> {
  if (fork?.mode !== 'replay' || nextSeq !== fork.fromSeq || nextSeq === 0) return nextSeq;
  return beginningOf(store, fork.sourceRunId, nextSeq);
}

/** How a run that was loaded continues. */
function openingOf({ state, record }: LiveRun): 'start' | 'forked' | 'recovered' {
  if (record.fork !== undefined && state.nextSeq === record.fork.fromSeq) return 'forked';
  return state.status === 'pending' ? 'start' : 'recovered';
}
