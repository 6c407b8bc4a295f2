import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../ports/store.ts';
import { advance, openRun } from '../decide/advance.ts';
import { fromStored } from '../fold/from-stored.ts';
import type { Plan } from '../compile/plan.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import { arbitraryWorkflow } from '../testing/arbitrary-workflow.ts';
import { arbitraryChoices, interleave } from '../testing/interleave.ts';
import { replayedRecord } from '../testing/replayed-record.ts';
import { fold, simulate, type Simulation } from '../testing/simulation.ts';
import { createRecordedInputs } from './recorded-inputs.ts';
import { createReplay } from './replay.ts';
import { isSameDecision } from './same-decision.ts';

/** Whatever happened to a run, in whatever order: its log alone is enough to have it happen again. */

const RUNS = Number(process.env.WEFT_PROPERTY_RUNS ?? 300);

/** The log of a replay of `source` from `cut`, beginning with the act that the cut goes through. */
function replay(source: Simulation, cut: number): StoredEvent[] {
  const { plan, log } = source;
  const begin = beginningOf(plan, log, cut);
  const record: CreationRecord = {
    ...source.record,
    runId: '01890000-0000-7000-8000-00000000000f',
    fork: { sourceRunId: source.record.runId, fromSeq: cut, mode: 'replay' },
  };
  const run = openRun(plan, record, fold(plan, record, log.slice(0, begin)));
  const reader = createRecordedInputs(plan, run.state);
  for (const event of log.slice(begin)) reader.push(fromStored(event));
  reader.end();
  const replayed = createReplay(run, {
    sourceRunId: source.record.runId,
    eventAt: (seq) => log[seq],
    recordedInputs: reader.recordedInputs,
    isOver: true,
  });

  const events = log.slice(0, begin);
  for (let guard = 0; guard < 5_000; guard += 1) {
    const next = replayed.next();
    if (next === undefined) return events;
    const { input, now } = next;
    const budget = {
      maxNodes: 4,
      maxBytes: 1e9,
      spent: () => false,
      canContinue: () => replayed.canContinue(now),
    };
    events.push(...advance(run, input, { now, random: 0.5 }, budget).events);
  }
  throw new Error('the replay does not come to an end');
}

function beginningOf(plan: Plan, log: readonly StoredEvent[], cut: number): number {
  let begin = cut;
  while (begin > 0) {
    const [before, after] = [log[begin - 1], log[begin]];
    if (before === undefined || after === undefined) return begin;
    if (!isSameDecision(plan, fromStored(before), fromStored(after))) return begin;
    begin -= 1;
  }
  return begin;
}

/** Ids of runs differ, nothing else may. */
function comparable(event: StoredEvent): unknown {
  const { runId: _own, ...payload } = JSON.parse(event.payload) as Record<string, unknown>;
  return { ...event, payload, overlay: undefined };
}

describe('a replay', () => {
  it('of any run, from any sequence, gives the same facts at the same times (E-27)', () => {
    fc.assert(
      fc.property(
        arbitraryWorkflow(),
        arbitraryChoices(),
        fc.integer({ min: 1, max: 4 }),
        fc.nat(),
        (spec, choices, concurrency, where) => {
          const source = simulate(spec, { limits: { concurrency }, budget: { maxNodes: 3 }, random: 0.3 });
          interleave(source, choices);

          const cut = where % source.log.length;
          const events = replay(source, cut);

          const record = replayedRecord(source, cut);
          const repeated = record === source.log ? events : events.slice(0, record.length);
          expect(repeated.map(comparable), source.story().join('\n')).toEqual(record.map(comparable));
          expect(events.filter(({ type }) => type === 'replay.diverged')).toEqual([]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
