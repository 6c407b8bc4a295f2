import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advance, openRun } from './advance.ts';
import { decodeState, encodeState } from './checkpoint.ts';
import { checkLog } from './legal-log.ts';
import { arbitraryWorkflow, features } from './testing/arbitrary-workflow.ts';
import { arbitraryChoices, interleave } from './testing/interleave.ts';
import { fold, logEntries, simulate } from './testing/simulation.ts';

/** Generated workflows under generated worlds: what must hold whatever happens, in whatever order. */

const RUNS = Number(process.env.WEFT_PROPERTY_RUNS ?? 300);

describe('any workflow, under any interleaving of outcomes, time, commands and crashes,', () => {
  it('ends, and leaves a legal log', () => {
    fc.assert(
      fc.property(
        arbitraryWorkflow(),
        arbitraryChoices(),
        fc.integer({ min: 1, max: 4 }),
        (spec, choices, concurrency) => {
          const run = simulate(spec, { limits: { concurrency }, budget: { maxNodes: 3 } });

          interleave(run, choices);

          expect(run.run.state.endedAt, run.story().join('\n')).toBeDefined();
          expect(checkLog(logEntries(run.log)), run.story().join('\n')).toEqual([]);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('folds from any prefix, and a fold from a checkpoint equals the fold from the start', () => {
    fc.assert(
      fc.property(arbitraryWorkflow(), arbitraryChoices(), fc.nat(), (spec, choices, cutAt) => {
        const run = simulate(spec);
        interleave(run, choices);
        const cut = cutAt % (run.log.length + 1);

        const prefix = fold(run.plan, run.record, run.log.slice(0, cut));
        const resumed = fold(run.plan, run.record, run.log.slice(cut), decodeState(encodeState(prefix)));

        expect(prefix.nextSeq).toBe(cut);
        expect(encodeState(resumed)).toBe(encodeState(fold(run.plan, run.record, run.log)));
        expect(encodeState(resumed)).toBe(encodeState(run.run.state));
      }),
      { numRuns: RUNS },
    );
  });

  it('goes on the same way after a takeover as it would have without one', () => {
    fc.assert(
      fc.property(arbitraryWorkflow(), fc.integer({ min: 1, max: 6 }), (spec, steps) => {
        const run = simulate(spec, { budget: { maxNodes: 1 } });
        let more = run.step({ type: 'start' }).more;
        for (let count = 1; count < steps && more; count += 1) more = run.step({ type: 'continue' }).more;
        const original = run.run;
        const moment = { now: run.now + 10, random: 0 };
        const budget = { maxNodes: 50, maxBytes: 1e6, spent: () => false };
        const takenOver = openRun(run.plan, run.record, fold(run.plan, run.record, run.log));

        const withTakeover = advance(takenOver, { type: 'continue' }, moment, budget);
        const without = advance(original, { type: 'continue' }, moment, budget);

        expect(withTakeover.events).toEqual(without.events);
      }),
      { numRuns: RUNS },
    );
  });

  it('leaves equal payloads when executed twice with equal outcomes', () => {
    fc.assert(
      fc.property(arbitraryWorkflow(), arbitraryChoices(), (spec, choices) => {
        const first = simulate(spec);
        const second = simulate(spec);
        second.now += 86_400_000;

        interleave(first, choices);
        interleave(second, choices);

        const facts = (run: typeof first) =>
          run.log.map(({ seq, type, nodeId, payload }) => ({ seq, type, nodeId, payload }));
        expect(facts(second)).toEqual(facts(first));
      }),
      { numRuns: 100 },
    );
  });
});

describe('the generator', () => {
  it('reaches every feature of the graph and of the world', () => {
    const counts = new Map<string, number>();
    const world = new Set<string>();
    const samples = fc.sample(fc.tuple(arbitraryWorkflow(), arbitraryChoices()), { numRuns: 300, seed: 7 });
    for (const [spec, choices] of samples) {
      for (const feature of features(spec)) counts.set(feature, (counts.get(feature) ?? 0) + 1);
      interleave(simulate(spec), choices, world);
    }

    for (const feature of EXPECTED_FEATURES) expect(counts.get(feature) ?? 0, feature).toBeGreaterThan(5);
    expect([...world].sort()).toEqual(EXPECTED_WORLD);
  });
});

const EXPECTED_FEATURES = [
  'join',
  'fan-out',
  'branch',
  'retry',
  'disabled',
  'nested loop',
  'core.loop',
  'core.fail',
  'core.delay',
  'core.approvalGate',
  'core.conditional',
  'core.setVariable',
  'test.effect',
  'rule all_success',
  'rule any_success',
  'rule all_complete',
  'rule none_failed',
  'rule any_failed',
  'condition equals',
  'condition notEquals',
  'condition contains',
  'condition regex',
  'condition expression',
];

const EXPECTED_WORLD = [
  'answer',
  'cancel',
  'crash',
  'outcome fatal',
  'outcome ok',
  'outcome retryable',
  'outcome yes',
  'pause',
];
