import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { checkLog } from '../fold/log-checker.ts';
import { effectKey } from '../../model/run-state.ts';
import { openRun } from '../decide/advance.ts';
import { node } from '../testing/definitions.ts';
import { fold, logEntries, simulate, type Simulation } from '../testing/simulation.ts';

function work(rounds: number[], more: { absorbs?: boolean; settings?: JsonObject } = {}): Simulation {
  const { absorbs = false, settings = {} } = more;
  const run = simulate({ nodes: [node('a', 'test.steps', { rounds, absorbs }, { settings })] });
  run.start();
  return run;
}

const step = (id: string) => effectKey('a', id);
const openSteps = (run: Simulation) => [...run.open.values()].map((effect) => effect.step?.id);

describe('a node that works in steps', () => {
  it('begins each step by a fact before it is performed, and the next round when all of one have ended (E-32)', () => {
    const run = work([2, 1]);
    expect(openSteps(run)).toEqual(['r0.0', 'r0.1']);

    run.succeed(step('r0.1'), { got: 1 });
    expect(openSteps(run)).toEqual(['r0.0']);
    run.succeed(step('r0.0'), { got: 0 });
    expect(openSteps(run)).toEqual(['r1.0']);
    run.succeed(step('r1.0'), { got: 2 });

    expect(run.payload('node.completed', 'a')).toMatchObject({
      outputs: { results: [{ got: 0 }, { got: 1 }, { got: 2 }] },
    });
    expect(checkLog(logEntries(run.log))).toEqual([]);
  });

  it('gives a step what had ended before it', () => {
    const run = work([1, 1]);

    run.succeed(step('r0.0'), { got: 0 });

    expect(run.open.get(step('r1.0'))?.step).toEqual({
      id: 'r1.0',
      request: { round: 1, index: 0 },
      history: [{ id: 'r0.0', round: 0, request: { round: 0, index: 0 }, result: { got: 0 } }],
    });
  });

  it('has at most four steps open, and comes to the others in rounds of their own (E-34)', () => {
    const run = work([6]);
    expect(openSteps(run)).toEqual(['r0.0', 'r0.1', 'r0.2', 'r0.3']);

    for (const id of openSteps(run)) run.succeed(step(id ?? ''));

    expect(openSteps(run)).toEqual(['r0.4', 'r0.5']);
  });

  it('continues after a crash with what had not ended, and repeats nothing that had (E-32)', () => {
    const run = work([3, 1]);
    run.succeed(step('r0.0'));

    run.crash();

    // The second must not be repeated: no one knows whether it happened.
    expect(openSteps(run)).toEqual(['r0.2']);
    expect(run.open.get(step('r0.2'))).toMatchObject({ isRepeat: true, attempt: 0 });
    expect(run.payload('weft.step.failed')).toMatchObject({
      step: 'r0.1',
      error: { code: 'effect_outcome_unknown' },
    });
    run.succeed(step('r0.2'));
    expect(run.payload('node.failed', 'a')).toMatchObject({ error: { code: 'effect_outcome_unknown' } });
  });

  it('retries a step by the policy of its node, and the others do not wait for it', () => {
    const run = work([2], { settings: { retry: { maxAttempts: 2, initialMs: 50 } } });

    run.fail(step('r0.0'), { retryable: true });
    expect(run.payload('weft.step.retried')).toMatchObject({ step: 'r0.0', attempt: 1, delayMs: 50 });
    run.succeed(step('r0.1'));
    run.passTime();
    expect(run.open.get(step('r0.0'))?.attempt).toBe(1);
    run.fail(step('r0.0'), { retryable: true });

    expect(run.payload('weft.step.failed')).toMatchObject({ step: 'r0.0', attempts: 2 });
    expect(run.run.state.status).toBe('failed');
  });

  it('streams under the step, and passes over what is on record when it is performed again', () => {
    const run = work([2]);
    run.stream(step('r0.0'), ['a', 'b']);
    run.crash();

    run.stream(step('r0.0'), ['a', 'b', 'c']);

    const chunks = run.log.filter(({ type }) => type === 'output.chunk');
    expect(chunks.map(({ payload }) => JSON.parse(payload).chunk)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['accept', 'accept'],
    ['reject', 'reject'],
  ])('gets the answer to its question as a result: %s', (action) => {
    const run = work([0, 1]);
    expect(run.run.state.status).toBe('waiting-approval');
    run.crash();

    run.answer('a', { action });

    expect(run.open.get(step('r1.0'))?.step?.history).toMatchObject([{ id: 'r0.ask', result: { action } }]);
    run.succeed(step('r1.0'));
    expect(run.run.state.status).toBe('completed');
  });

  it('asks each question under its own id', () => {
    const run = work([0, 0]);
    run.answer('a', { action: 'accept' });

    const ids = run.log
      .filter(({ type }) => type === 'interrupt.requested')
      .map(({ payload }) => JSON.parse(payload).interruptId as string);
    expect(ids).toEqual(['a:0:r0.ask', 'a:0:r1.ask']);
    expect(run.answer('a', { action: 'accept' }, { interruptId: 'a:0:r0.ask' }).commandResult).toMatchObject({
      applied: false,
      refusal: { code: 'interrupt_already_resolved' },
    });
  });

  it('stops at a pause that waits, between two rounds', () => {
    const run = work([1, 1]);
    run.command({ type: 'pause', policy: 'drain-current-node' });
    run.succeed(step('r0.0'));
    run.command({ type: 'pause', policy: 'drain-current-node' });
    expect(run.run.state.status).toBe('paused');
    expect(openSteps(run)).toEqual([]);

    run.command({ type: 'resume' });

    expect(openSteps(run)).toEqual(['r1.0']);
  });

  it('begins a step again that an immediate pause has stopped', () => {
    const run = work([1]);
    run.command({ type: 'pause', policy: 'immediate' });
    expect(run.aborted).toEqual([step('r0.0')]);

    run.command({ type: 'resume' });

    expect(run.open.get(step('r0.0'))?.attempt).toBe(1);
  });

  it('is cancelled with every open step', () => {
    const run = work([3]);
    run.succeed(step('r0.1'));

    run.command({ type: 'cancel' });

    expect(run.aborted).toEqual([step('r0.0'), step('r0.2')]);
    expect(run.run.state.status).toBe('cancelled');
  });

  it('fails a step whose result is larger than a payload may be', () => {
    const run = work([1], { absorbs: true });

    run.succeed(step('r0.0'), { text: 'x'.repeat(300_000) });

    expect(run.payload('weft.step.failed')).toMatchObject({ error: { code: 'output_too_large' } });
    expect(run.run.state.status).toBe('completed');
  });
});

describe('a step that a child run performs', () => {
  it('ends as the child does, one child after the other, also for a new holder (E-35)', () => {
    const run = work([9, 9]);
    expect(run.spawned).toHaveLength(1);
    run.child('a', 'waiting-approval');
    expect(run.run.state.status).toBe('waiting-approval');

    run.crash();
    run.child('a', 'failed', { error: { code: 'boom', message: 'It broke.' } });
    const [first, second] = run.spawned;
    expect(run.spawned).toHaveLength(2);
    expect(second?.childRunId).not.toBe(first?.childRunId);
    run.crash();
    const error = { code: 'child_recursion', message: 'It would start itself.' };
    run.settle({ type: 'child-created', key: 'a', childRunId: second?.childRunId ?? '', error });

    expect(run.run.state.error).toMatchObject({ code: 'child_recursion' });
    expect(run.run.state.children.map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(run.payload('weft.step.completed')).toMatchObject({
      step: 'r0.child',
      result: { childStatus: 'failed', childError: { code: 'boom' } },
    });
    expect(checkLog(logEntries(run.log))).toEqual([]);
  });
});

describe('a branch of a run in which a node works in steps', () => {
  it('comes to its end from every event, and repeats no step that had ended (E-33)', () => {
    const source = work([2, 0, 9, 1, 9]);
    source.succeed(step('r0.0'));
    source.succeed(step('r0.1'));
    source.answer('a', { action: 'accept' });
    source.child('a', 'waiting-input');
    source.child('a', 'completed', { outputs: { output: 'of the source' } });
    source.succeed(step('r3.0'));
    source.child('a', 'failed', { error: { code: 'boom', message: 'It broke.' } });
    expect(source.run.state.status).toBe('completed');

    for (let cut = 1; cut < source.log.length; cut += 1) {
      const branch = simulate(source.plan, {
        fork: { sourceRunId: source.record.runId, fromSeq: cut, mode: 'branch' },
      });
      branch.log.push(...source.log.slice(0, cut));
      branch.run = openRun(branch.plan, branch.record, fold(branch.plan, branch.record, branch.log));
      branch.settle({ type: 'forked' });
      for (let guard = 0; guard < 20 && branch.run.state.endedAt === undefined; guard += 1) {
        const [key] = branch.open.keys();
        if (key !== undefined) branch.succeed(key);
        else if (branch.run.state.nodes.get('a')?.child !== undefined) branch.child('a', 'completed');
        else branch.answer('a', { action: 'accept' });
      }

      const story = branch.story().join('\n');
      expect(branch.run.state.endedAt, story).toBeDefined();
      expect(new Set(branch.spawned.map(({ childRunId }) => childRunId)).size).toBe(branch.spawned.length);
      expect(checkLog(logEntries(branch.log)), story).toEqual([]);
      const ended = branch.log.filter(({ type }) => type === 'weft.step.completed');
      const names = ended.map(({ payload }) => JSON.parse(payload).step as string).sort();
      // A step in the middle of whose outcome nothing was cut may fail, because no one knows whether it happened.
      expect(new Set(names).size, story).toBe(names.length);
    }
  });
});
