import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { checkLog } from '../fold/log-checker.ts';
import { node, type WorkflowSpec } from '../testing/definitions.ts';
import { logEntries, simulate, type Simulation } from '../testing/simulation.ts';

const RETRYING = { settings: { retry: { maxAttempts: 2, initialMs: 1 } } };

function streaming(spec: WorkflowSpec = { nodes: [node('call', 'test.effect', {}, RETRYING)] }): Simulation {
  const run = simulate(spec);
  run.start();
  return run;
}

const textOf = (run: Simulation): string[] =>
  run.log
    .filter(({ type }) => type === 'output.chunk')
    .map(({ payload }) => String((JSON.parse(payload) as JsonObject)['chunk']));

describe('streamed text', () => {
  it('is recorded piece by piece while the effect runs', () => {
    const run = streaming();

    run.stream('call', ['a', 'b']);
    run.stream('call', ['c'], 2);
    run.succeed('call');

    expect(textOf(run)).toEqual(['a', 'b', 'c']);
    expect(run.payload('output.chunk')).toMatchObject({ nodeId: 'call', chunk: 'a', isLast: false });
    expect(checkLog(logEntries(run.log))).toEqual([]);
  });

  it('that is streamed again after a takeover is passed over as far as it is on record', () => {
    const run = streaming();
    run.stream('call', ['a', 'b']);

    run.crash();
    run.stream('call', ['a']);
    run.stream('call', ['b', 'c'], 1);
    run.succeed('call');

    expect(textOf(run)).toEqual(['a', 'b', 'c']);
  });

  it('of another attempt is recorded from its beginning', () => {
    const run = streaming();
    run.stream('call', ['old 1', 'old 2']);
    run.fail('call', { retryable: true });
    run.passTime();

    run.stream('call', ['new 1', 'new 2', 'new 3']);
    run.crash();
    run.stream('call', ['new 1', 'new 2', 'new 3', 'new 4']);

    expect(textOf(run)).toEqual(['old 1', 'old 2', 'new 1', 'new 2', 'new 3', 'new 4']);
  });

  it('of an attempt that is over is dropped', () => {
    const run = streaming();
    const late = (attempt: number) =>
      run.settle({
        type: 'progress',
        key: 'call',
        attempt,
        chunks: [{ index: 0, chunk: 'late', isLast: true }],
      });

    run.fail('call', { retryable: true });
    late(0);
    run.passTime();
    late(0);
    run.succeed('call');
    late(1);

    expect(textOf(run)).toEqual([]);
  });

  it('is dropped after a pause has cut the effect off', () => {
    const run = streaming();
    run.stream('call', ['a']);

    run.command({ type: 'pause', policy: 'immediate' });
    run.settle({
      type: 'progress',
      key: 'call',
      attempt: 0,
      chunks: [{ index: 1, chunk: 'b', isLast: true }],
    });

    expect(textOf(run)).toEqual(['a']);
  });

  it('names its iteration to the fold and not to the public', () => {
    const run = streaming({
      nodes: [
        node('each', 'core.loop', { body: ['call'], items: [1, 2], maxIterations: 2 }),
        node('call', 'test.effect'),
      ],
    });

    run.stream('call[0]', ['first']);
    run.succeed('call[0]');
    run.stream('call[1]', ['second']);
    run.crash();
    run.stream('call[1]', ['second', 'third']);

    expect(textOf(run)).toEqual(['first', 'second', 'third']);
    expect(run.payload('output.chunk')).not.toHaveProperty('iteration');
  });
});
