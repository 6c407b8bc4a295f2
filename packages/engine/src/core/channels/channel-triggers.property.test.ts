import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advance, openRun } from '../decide/advance.ts';
import { decodeState, encodeState } from '../fold/checkpoint.ts';
import { checkLog } from '../fold/log-checker.ts';
import { arbitraryTriggers } from '../testing/arbitrary-triggers.ts';
import { arbitraryChoices, interleave, play } from '../testing/interleave.ts';
import { fold, logEntries, simulate } from '../testing/simulation.ts';

/** Triggers added to any workflow, in any world. */

const RUNS = Number(process.env.WEFT_PROPERTY_RUNS ?? 150);

describe('a workflow with triggers, under any interleaving,', () => {
  it('ends, leaves a legal log, and folds to the same state from any checkpoint', () => {
    let visits = 0;
    fc.assert(
      fc.property(arbitraryTriggers(), arbitraryChoices(), fc.nat(), (spec, choices, cutAt) => {
        const run = simulate(spec, { budget: { maxNodes: 3 } });

        interleave(run, choices);

        expect(run.run.state.endedAt, run.story().join('\n')).toBeDefined();
        expect(checkLog(logEntries(run.log)), run.story().join('\n')).toEqual([]);
        const cut = cutAt % (run.log.length + 1);
        const prefix = decodeState(encodeState(fold(run.plan, run.record, run.log.slice(0, cut))));
        const resumed = fold(run.plan, run.record, run.log.slice(cut), prefix);
        expect(encodeState(resumed)).toBe(encodeState(run.run.state));
        visits = Math.max(visits, run.run.state.visits.get('t0') ?? 0);
      }),
      { numRuns: RUNS },
    );
    // The generator reaches nodes that are started again.
    expect(visits).toBeGreaterThan(0);
  });

  it('continues after a takeover as it would have without one', () => {
    fc.assert(
      fc.property(arbitraryTriggers(), arbitraryChoices(), (spec, choices) => {
        const run = simulate(spec);
        play(run, choices);
        fc.pre(run.run.state.endedAt === undefined && !run.run.draining);
        const taken = openRun(run.plan, run.record, fold(run.plan, run.record, run.log));
        const moment = { now: run.now + 1_000, random: 0 };
        const budget = { maxNodes: 64, maxBytes: 1e9, spent: () => false };

        const stayed = advance(run.run, { type: 'tick' }, moment, budget);
        const retaken = advance(taken, { type: 'tick' }, moment, budget);

        expect(retaken.events).toEqual(stayed.events);
      }),
      { numRuns: RUNS },
    );
  });
});
