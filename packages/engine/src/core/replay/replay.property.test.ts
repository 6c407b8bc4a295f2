import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../ports/store.ts';
import { advance, openRun } from '../decide/advance.ts';
import { causeOf, privatePayload } from '../fold/overlay.ts';
import { deriveCauses } from '../import/derive-causes.ts';
import { finish } from '../json/cooperative-task.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
import { arbitraryWorkflow } from '../testing/arbitrary-workflow.ts';
import { chain, node } from '../testing/definitions.ts';
import { arbitraryChoices, interleave } from '../testing/interleave.ts';
import { replayedRecord } from '../testing/replayed-record.ts';
import { fold, simulate, type Simulation } from '../testing/simulation.ts';
import type { Outcome } from '../decide/step.ts';
import { createRecordedInputs } from './recorded-inputs.ts';
import { createReplay } from './replay.ts';

/** Whatever happened to a run, in whatever order: its log alone is enough to have it happen again. */

const RUNS = Number(process.env.WEFT_PROPERTY_RUNS ?? 300);

/** The log of a replay of `log` from `cut`, beginning with the unit that the cut goes through. */
function replay(source: Simulation, log: readonly StoredEvent[], cut: number, maxNodes = 4): StoredEvent[] {
  const { plan } = source;
  const begin = log.findLastIndex((event) => event.seq <= cut && causeOf(event) !== undefined);
  const record: CreationRecord = {
    ...source.record,
    runId: '01890000-0000-7000-8000-00000000000f',
    fork: { sourceRunId: source.record.runId, fromSeq: cut, mode: 'replay' },
  };
  const run = openRun(plan, record, fold(plan, record, log.slice(0, begin)));
  const reader = createRecordedInputs(plan, run.state, source.record.runId);
  for (const event of log.slice(begin)) reader.push(event);
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
      maxNodes,
      maxBytes: 1e9,
      spent: () => false,
      canContinue: replayed.canContinue,
    };
    events.push(...advance(run, input, { now, random: 0.5 }, budget).events);
  }
  throw new Error('the replay does not come to an end');
}

/** As an imported log is: without causes, until they are derived. */
function withDerivedCauses({ plan, log }: Simulation): StoredEvent[] {
  return finish(deriveCauses(plan, log.map(withoutCause)));
}

function withoutCause(event: StoredEvent): StoredEvent {
  const { overlay: _overlay, ...shown } = event;
  const whole = privatePayload(event);
  return whole === undefined ? shown : { ...shown, overlay: whole };
}

/** Ids of runs differ, nothing else may. */
function comparable(event: StoredEvent): unknown {
  const { runId: _own, ...payload } = JSON.parse(event.payload) as Record<string, unknown>;
  return { ...event, payload, overlay: undefined };
}

/** A run to its end, whatever happens to it, and a place to cut its log at. */
const RUN = fc.record({
  spec: arbitraryWorkflow(),
  choices: arbitraryChoices(),
  concurrency: fc.integer({ min: 1, max: 4 }),
  where: fc.nat(),
});
type Run = typeof RUN extends fc.Arbitrary<infer Made> ? Made : never;

function executed({ spec, choices, concurrency, where }: Run): { source: Simulation; cut: number } {
  const source = simulate(spec, { limits: { concurrency }, budget: { maxNodes: 3 }, random: 0.3 });
  interleave(source, choices);
  return { source, cut: where % source.log.length };
}

/** Answers what of the log is repeated: a cancel is not (ADR 0041). */
function expectSame(
  events: readonly StoredEvent[],
  log: readonly StoredEvent[],
  cut = 0,
): readonly StoredEvent[] {
  const record = replayedRecord(log, cut);
  const repeated = record === log ? events : events.slice(0, record.length);
  const story = log.map(({ type, nodeId }) => `${type} ${nodeId ?? ''}`).join('\n');
  expect(repeated.map(comparable), story).toEqual(record.map(comparable));
  return record;
}

describe('a replay', () => {
  it('of any run, from any sequence, gives the same facts at the same times, in the same units (E-27)', () => {
    fc.assert(
      fc.property(RUN, (run) => {
        const { source, cut } = executed(run);

        const events = replay(source, source.log, cut);

        const record = expectSame(events, source.log, cut);
        expect(events.slice(0, record.length).map(causeOf)).toEqual(record.map(causeOf));
        expect(events.filter(({ type }) => type === 'replay.diverged')).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('of a replay whose units were cut by a smaller budget gives the same facts', () => {
    fc.assert(
      fc.property(RUN, fc.nat(), (run, elsewhere) => {
        const { source, cut } = executed(run);

        const first = replay(source, source.log, cut, 1);
        const otherCut = elsewhere % first.length;
        const second = replay(source, first, otherCut);

        expectSame(first, source.log, cut);
        expectSame(second, first, otherCut);
      }),
      { numRuns: RUNS },
    );
  });

  it('of any run, from any sequence, with causes that were derived at its import gives the same facts', () => {
    fc.assert(
      fc.property(RUN, (run) => {
        const { source, cut } = executed(run);

        expectSame(replay(source, withDerivedCauses(source), cut), source.log, cut);
      }),
      { numRuns: RUNS },
    );
  });

  it('leaves timers for later where other commands waited in the source', () => {
    const source = simulate({
      nodes: [
        node('ask', 'core.approvalGate', { actions: ['accept'] }),
        node('next'),
        node('delay', 'core.delay', { ms: 5 }),
      ],
      edges: chain('ask', 'next'),
    });
    source.start();
    source.now += 5;
    const answer = { nodeId: 'ask', value: { action: 'accept' }, by: 'a', byUser: true, viaLink: false };
    source.settle({ type: 'command', command: { type: 'resolve', ...answer }, commandsWait: true });
    source.settle({ type: 'tick' });

    expect(source.story().indexOf('node.completed next')).toBeLessThan(
      source.story().indexOf('node.completed delay'),
    );
    for (let cut = 0; cut < source.log.length; cut += 1)
      expectSame(replay(source, source.log, cut), source.log, cut);
  });

  it.each([
    ['asks once too often', { ask: { kind: 'clarification', data: {} } }, { clarificationRounds: 0 }],
    [
      'decides once too often',
      { events: [{ type: 'runOrchestrator.decided', payload: {} }] },
      { loopIterations: 0 },
    ],
  ] as const)('fails as its source did where an effect %s', (_what, result, limits) => {
    const source = simulate({ nodes: [node('a', 'test.effect')] }, { limits });
    source.start();
    source.settle({
      type: 'outcome',
      key: 'a',
      attempt: 0,
      outcome: { ok: true, outputs: {}, ...result } as Outcome,
    });

    expect(source.payload('cap.breached')).toBeDefined();
    expectSame(replay(source, source.log, 0), source.log);
  });

  it('of a run whose log says nothing of causes is refused', () => {
    const source = simulate({ nodes: [node('a', 'test.effect')] });
    source.start();
    source.succeed('a');
    const bare = source.log.map(withoutCause);

    expect(() => replay(source, bare, 0)).toThrow(DamagedRunError);
  });
});
