import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advance, openRun } from './advance.ts';
import { decodeState, encodeState } from '../fold/checkpoint.ts';
import { checkLog } from '../fold/log-checker.ts';
import { arbitraryWorkflow, features } from '../testing/arbitrary-workflow.ts';
import type { Command } from '../../ports/store.ts';
import type { Input } from './step.ts';
import { arbitraryChoices, interleave, play } from '../testing/interleave.ts';
import { fold, logEntries, simulate, type Simulation } from '../testing/simulation.ts';

/** Generated workflows under generated worlds: what must hold whatever happens, in whatever order. */

const RUNS = Number(process.env.WEFT_PROPERTY_RUNS ?? 200);

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

  it('leaves no child behind: each has ended, never began, or got a cancel', () => {
    fc.assert(
      fc.property(arbitraryWorkflow(), arbitraryChoices(), (spec, choices) => {
        const run = simulate(spec);

        const { ended, failedToCreate } = interleave(run, choices);

        const stopped = new Set(run.signals.map(({ runId }) => runId));
        const left = run.spawned.filter(
          ({ childRunId, spec: { propagateCancellation } }) =>
            propagateCancellation &&
            !ended.has(childRunId) &&
            !failedToCreate.has(childRunId) &&
            !stopped.has(childRunId),
        );
        expect(left).toEqual([]);
        expect([...ended].filter((id) => stopped.has(id))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('asks for one child per dispatch, under one id, however often (E-9)', () => {
    fc.assert(
      fc.property(arbitraryWorkflow(), arbitraryChoices(), (spec, choices) => {
        const run = simulate(spec);

        interleave(run, choices);

        const dispatched = run.log
          .filter(({ type }) => type === 'node.dispatched')
          .map(({ payload }) => (JSON.parse(payload) as { childRunId: string }).childRunId);
        expect(new Set(dispatched).size).toBe(dispatched.length);
        expect(new Set(run.spawned.map(({ childRunId }) => childRunId))).toEqual(new Set(dispatched));
        expect(run.run.state.children.map(({ runId }) => runId)).toEqual(dispatched);
      }),
      { numRuns: 100 },
    );
  });

  it('asks every question once and resolves it at most once, and none is open when the run completes (E-21)', () => {
    fc.assert(
      fc.property(arbitraryWorkflow(), arbitraryChoices(), (spec, choices) => {
        const run = simulate(spec);

        interleave(run, choices);

        const standing = new Map<string, 'open' | 'resolved'>();
        for (const { type, payload } of run.log) {
          if (type !== 'interrupt.requested' && type !== 'interrupt.resolved') continue;
          const { interruptId } = JSON.parse(payload) as { interruptId: string };
          expect(standing.get(interruptId), interruptId).toBe(
            type === 'interrupt.requested' ? undefined : 'open',
          );
          standing.set(interruptId, type === 'interrupt.requested' ? 'open' : 'resolved');
        }
        if (run.run.state.status === 'completed') expect([...standing.values()]).not.toContain('open');
      }),
      { numRuns: RUNS },
    );
  });

  it('numbers the turns of a conversation without a gap, and closes it once', () => {
    fc.assert(
      fc.property(arbitraryWorkflow(), arbitraryChoices(), (spec, choices) => {
        const run = simulate(spec);

        interleave(run, choices);

        const turns = new Map<string, number>();
        for (const { type, payload } of run.log) {
          if (!type.startsWith('conversation.')) continue;
          const { conversationId, turnIndex = 0 } = JSON.parse(payload) as {
            conversationId: string;
            turnIndex?: number;
          };
          expect(turnIndex, `${type} ${conversationId}`).toBe(turns.get(conversationId) ?? 0);
          turns.set(conversationId, type === 'conversation.closed' ? Number.NaN : turnIndex + 1);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('records streamed text once per attempt, in order, from its first piece', () => {
    fc.assert(
      fc.property(arbitraryWorkflow(), arbitraryChoices(), (spec, choices) => {
        const run = simulate(spec);

        interleave(run, choices);

        const next = new Map<string, number>();
        for (const { type, payload } of run.log) {
          if (type !== 'output.chunk') continue;
          const { chunk } = JSON.parse(payload) as { chunk: string };
          const [attempt = '', index] = chunk.split(':');
          expect(Number(index), chunk).toBe(next.get(attempt) ?? 0);
          next.set(attempt, Number(index) + 1);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('folds from any prefix, and a fold from a checkpoint equals the fold from the start (E-2)', () => {
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

  it('continues after a takeover as it would have without one (E-8)', () => {
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

  it('continues the same way from any sequence, in any process', () => {
    fc.assert(
      fc.property(arbitraryWorkflow(), arbitraryChoices(), fc.nat(), (spec, choices, which) => {
        const run = simulate(spec, { limits: { concurrency: 1 + (which % 3) } });
        play(run, choices);
        fc.pre(run.run.state.endedAt === undefined && !run.run.draining);
        const inputs = possibleInputs(run);
        const input = inputs[which % inputs.length] ?? { type: 'tick' };
        const moment = { now: run.now + 1000, random: 0 };
        const budget = { maxNodes: 1000, maxBytes: 1e7, spent: () => false };
        const takenOver = openRun(run.plan, run.record, fold(run.plan, run.record, run.log));

        const withTakeover = advance(takenOver, input, moment, budget);
        const without = advance(run.run, input, moment, budget);

        expect(withTakeover.events).toEqual(without.events);
        expect(withTakeover.children).toEqual(without.children);
        expect(withTakeover.signals).toEqual(without.signals);
        expect(encodeState(takenOver.state)).toBe(encodeState(run.run.state));
      }),
      { numRuns: RUNS },
    );
  });

  it('leaves equal payloads when executed twice with equal outcomes (E-1)', () => {
    fc.assert(
      fc.property(arbitraryWorkflow(), arbitraryChoices(), (spec, choices) => {
        const first = simulate(spec);
        const second = simulate(spec);
        second.now += 86_400_000;

        interleave(first, choices);
        interleave(second, choices);

        const facts = (run: typeof first) =>
          run.log.map(({ seq, type, nodeId, payload }) => ({
            seq,
            type,
            nodeId,
            payload: withoutTimes(payload),
          }));
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

/** Turns and channel writes carry the time at which they were made, because the protocol wants it. */
function withoutTimes(payload: string): string {
  return payload.replaceAll(/"(?:ts|writtenAt)":(?:\d+|"[^"]*")/g, '"at":0');
}

/** Everything that could come in next: time, an outcome, an answer, a word of a child, a command. */
function possibleInputs(run: Simulation): Input[] {
  const { nodes, suspended } = run.run.state;
  const commands: Command[] = [
    { type: 'cancel' },
    { type: 'resume' },
    { type: 'pause', policy: 'immediate' },
  ];
  for (const [key, { child, nodeId, iteration, interrupt }] of nodes) {
    if (child !== undefined) {
      const said = { type: 'child' as const, nodeKey: key, childRunId: child.runId };
      commands.push({ ...said, status: 'completed' }, { ...said, status: 'failed' });
    }
    if (interrupt === undefined || !suspended.includes(key)) continue;
    const value = { action: 'accept', voter: 'last', content: 'so be it', answers: { answer: 'x' } };
    const by = { by: 'key_1', byUser: false, viaLink: false };
    commands.push({ type: 'resolve', nodeId, iteration, value, ...by });
  }
  return [
    { type: 'tick' },
    ...[...run.open.values()].map(
      ({ key, attempt }): Input => ({ type: 'outcome', key, attempt, outcome: { ok: true, outputs: {} } }),
    ),
    ...commands.map((command): Input => ({ type: 'command', command })),
  ];
}

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
  'core.conversationGate',
  'core.subWorkflow',
  'core.dispatch',
  'core.orchestrator.supervisor',
  'node on a cycle',
  'cycle in a loop',
  'absorbed child',
  'child on its own',
  'core.conditional',
  'core.setVariable',
  'test.effect',
  'test.steps',
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
  'answer approval',
  'answer clarification',
  'answer conversation.exchange',
  'answer low-confidence',
  'cancel',
  'child cancelled',
  'child completed',
  'child created',
  'child failed',
  'child not created',
  'child repeats itself',
  'child running',
  'child waiting-approval',
  'child waiting-external',
  'child waiting-input',
  'crash',
  'outcome fatal',
  'outcome ok',
  'outcome retryable',
  'outcome yes',
  'pause',
  'silent child',
  'stream',
];
