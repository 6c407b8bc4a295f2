import { compileValidator, EVENT_CATALOGUE, type JsonObject, WEFT_EVENTS } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryWorkflow } from '../testing/arbitrary-workflow.ts';
import { arbitraryChoices, interleave } from '../testing/interleave.ts';
import { simulate } from '../testing/simulation.ts';
import { RECORDED_TYPES } from './evolve.ts';
import { RULED_TYPES } from './log-checker.ts';

const rows = [...EVENT_CATALOGUE, ...WEFT_EVENTS];
const validators = new Map(rows.map(({ type, payload }) => [type, compileValidator(payload)]));

/** What the published closed schema of a question forgot. */
const FORGOTTEN = ['iteration', 'authRequired'];

describe('an event type that is recorded', () => {
  it.each(RECORDED_TYPES)('has a row in the reference: %s', (type) => {
    expect(rows.map((row) => row.type)).toContain(type);
  });

  it('has a rule of its own in the log checker', () => {
    expect(RULED_TYPES.toSorted()).toEqual(RECORDED_TYPES.toSorted());
  });

  it('is recorded when it is one of our own', () => {
    expect(RECORDED_TYPES).toEqual(expect.arrayContaining(WEFT_EVENTS.map(({ type }) => type)));
  });

  it('has a public payload as the reference says, in any workflow', () => {
    fc.assert(
      fc.property(arbitraryWorkflow(), arbitraryChoices(), (spec, choices) => {
        const run = simulate(spec);

        interleave(run, choices);

        for (const { type, payload } of run.log) {
          const shown = Object.entries(JSON.parse(payload) as JsonObject);
          const published = shown.filter(
            ([name]) => type !== 'interrupt.requested' || !FORGOTTEN.includes(name),
          );
          expect(RECORDED_TYPES).toContain(type);
          expect(validators.get(type)?.(Object.fromEntries(published)), `${type} ${payload}`).toEqual([]);
        }
      }),
      { numRuns: 100 },
    );
  });
});
