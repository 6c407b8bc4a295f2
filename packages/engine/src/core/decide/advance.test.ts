import { describe, expect, it } from 'vitest';
import { chain, edge, node, variable } from '../testing/definitions.ts';
import { fold, simulate, START } from '../testing/simulation.ts';

describe('a run', () => {
  it('starts, runs its only node and completes in one batch', () => {
    const run = simulate({ nodes: [node('only')] });

    run.start();

    expect(run.story()).toEqual(['run.started', 'node.started only', 'node.completed only', 'run.completed']);
    expect(run.run.state.status).toBe('completed');
  });

  it('runs nodes in array order when the workflow has no edges', () => {
    const run = simulate({ nodes: [node('z'), node('a'), node('m')] });

    run.start();

    expect(run.story().filter((line) => line.startsWith('node.completed'))).toEqual([
      'node.completed z',
      'node.completed a',
      'node.completed m',
    ]);
  });

  it('honours edges, not the array, and drains ready nodes in lexicographic order (E-7)', () => {
    const run = simulate({
      nodes: [node('end'), node('c'), node('b'), node('start')],
      edges: [edge('start', 'c'), edge('start', 'b'), edge('b', 'end'), edge('c', 'end')],
    });

    run.start();

    expect(run.story().filter((line) => line.startsWith('node.started'))).toEqual([
      'node.started start',
      'node.started b',
      'node.started c',
      'node.started end',
    ]);
  });

  it('seeds variables from defaults, then from inputs by name', () => {
    const run = simulate(
      {
        nodes: [
          node('echo', 'core.identity', {}, { inputs: { who: { type: 'variable', variableName: 'who' } } }),
        ],
        variables: [
          variable('who', { defaultValue: 'world' }),
          variable('greeting', { defaultValue: 'hello' }),
        ],
      },
      { inputs: { who: 'weft', extra: 1 } },
    );

    run.start();

    expect(Object.fromEntries(run.run.state.variables)).toEqual({ who: 'weft', greeting: 'hello', extra: 1 });
    expect(run.payload('run.completed')).toEqual({ outputs: { who: 'weft' } });
  });

  it('cuts a long pure batch at its budget and continues from there (E-3)', () => {
    const ids = Array.from({ length: 10 }, (_, index) => `n${index}`);
    const run = simulate(
      { nodes: ids.map((id) => node(id)), edges: chain(...ids) },
      { budget: { maxNodes: 3 } },
    );

    const first = run.step({ type: 'start' });

    expect(first.more).toBe(true);
    expect(first.events.filter((event) => event.type === 'node.completed')).toHaveLength(3);
    run.settle({ type: 'continue' });
    expect(run.run.state.status).toBe('completed');
  });
});

describe('a join', () => {
  const outcomes = [
    { rule: 'all_success', a: 'ok', b: 'ok', join: 'completed' },
    { rule: 'all_success', a: 'ok', b: 'fails', join: 'skipped' },
    { rule: 'any_success', a: 'ok', b: 'fails', join: 'completed' },
    { rule: 'any_success', a: 'fails', b: 'fails', join: 'skipped' },
    { rule: 'all_complete', a: 'fails', b: 'fails', join: 'completed' },
    { rule: 'none_failed', a: 'ok', b: 'ok', join: 'completed' },
    { rule: 'none_failed', a: 'ok', b: 'fails', join: 'skipped' },
    { rule: 'any_failed', a: 'ok', b: 'fails', join: 'completed' },
    { rule: 'any_failed', a: 'ok', b: 'ok', join: 'skipped' },
  ];
  it.each(outcomes)('with $rule is $join when one branch $a and the other $b', ({ rule, a, b, join }) => {
    const typeOf = (outcome: string): string => (outcome === 'ok' ? 'core.noop' : 'core.fail');
    const run = simulate({
      nodes: [node('a', typeOf(a)), node('b', typeOf(b)), node('join')],
      edges: [edge('a', 'join', { rule }), edge('b', 'join', { rule })],
    });

    run.start();

    expect(run.run.state.nodes.get('join')?.status).toBe(join);
  });

  it('with any_success fires at once, while the other branch is still running (E-6)', () => {
    const run = simulate({
      nodes: [node('fast'), node('slow', 'test.effect'), node('join')],
      edges: [edge('fast', 'join', { rule: 'any_success' }), edge('slow', 'join', { rule: 'any_success' })],
    });

    run.start();

    expect(run.run.state.nodes.get('join')?.status).toBe('completed');
    expect(run.run.state.status).toBe('running');
    run.succeed('slow');
    expect(run.story().at(-1)).toBe('run.completed');
  });
});

describe('conditions', () => {
  const decided = (value: number) =>
    simulate(
      {
        nodes: [
          node('check', 'core.conditional', { condition: 'inputs.total > 100' }),
          node('big'),
          node('small'),
        ],
        edges: [
          edge('check', 'big', { sourceOutput: 'true' }),
          edge('check', 'small', { sourceOutput: 'false' }),
        ],
      },
      { inputs: { total: value } },
    );

  it('takes the branch whose port was produced and skips the other', () => {
    const run = decided(150);

    run.start();

    expect(run.run.state.nodes.get('big')?.status).toBe('completed');
    expect(run.run.state.nodes.get('small')).toMatchObject({
      status: 'skipped',
      reason: 'condition-not-met',
    });
    expect(run.run.state.status).toBe('completed');
  });

  it('skips a node whose every incoming edge is not taken, and everything behind it', () => {
    const run = simulate({
      nodes: [
        node('a', 'core.identity', {}, { inputs: { output: { type: 'static', value: 1 } } }),
        node('b'),
        node('c'),
      ],
      edges: [edge('a', 'b', { condition: { type: 'equals', left: 'output', right: 2 } }), edge('b', 'c')],
    });

    run.start();

    expect(run.run.state.nodes.get('c')).toMatchObject({ status: 'skipped', reason: 'upstream-skipped' });
    expect(run.run.state.status).toBe('completed');
  });

  it('fails the target when the condition cannot be evaluated', () => {
    const run = simulate({
      nodes: [node('a'), node('b')],
      edges: [edge('a', 'b', { condition: { type: 'expression', expression: 'output.missing > 1' } })],
    });

    run.start();

    expect(run.run.state.error?.code).toBe('condition_failed');
    expect(run.story()).not.toContain('node.started b');
  });
});

describe('failures', () => {
  it('fail the run with the error of the first failed node that nothing recovers', () => {
    const run = simulate({ nodes: [node('bad', 'core.fail'), node('after')], edges: chain('bad', 'after') });

    run.start();

    expect(run.story()).toEqual([
      'run.started',
      'node.started bad',
      'node.failed bad',
      'node.skipped after',
      'run.failed',
    ]);
    expect(run.payload('run.failed')).toMatchObject({
      error: { code: 'conformance_test_failure' },
      failedNodeId: 'bad',
    });
  });

  it('are recovered by an error path', () => {
    const run = simulate({
      nodes: [node('bad', 'core.fail'), node('cleanup'), node('after')],
      edges: [edge('bad', 'after'), edge('bad', 'cleanup', { rule: 'any_failed' })],
    });

    run.start();

    expect(run.run.state.status).toBe('completed');
    expect(run.run.state.nodes.get('after')?.status).toBe('skipped');
  });

  it('are retried with growing delays while the policy allows, under the same node', () => {
    const run = simulate({
      nodes: [
        node(
          'call',
          'test.effect',
          {},
          { settings: { retry: { maxAttempts: 3, initialMs: 100, factor: 3 } } },
        ),
      ],
    });
    run.start();

    run.fail('call', { retryable: true });
    run.passTime();
    run.fail('call', { retryable: true });
    run.passTime();
    run.succeed('call', { output: 'done' });

    expect(
      run.log.filter((event) => event.type === 'node.retried').map((event) => JSON.parse(event.payload)),
    ).toMatchObject([
      { attempt: 1, delayMs: 100 },
      { attempt: 2, delayMs: 300 },
    ]);
    expect(run.run.state.status).toBe('completed');
    expect(run.now - START).toBe(400);
  });

  it('fail the node when the attempts are used up, or the error is not retryable, or is named in never', () => {
    const retry = { maxAttempts: 2, initialMs: 10, never: ['gone'] };
    const attempt = (error: { code?: string; retryable?: boolean }) => {
      const run = simulate({ nodes: [node('call', 'test.effect', {}, { settings: { retry } })] });
      run.start();
      run.fail('call', error);
      return run;
    };

    const usedUp = attempt({ retryable: true });
    usedUp.passTime();
    usedUp.fail('call', { retryable: true });

    expect(usedUp.payload('node.failed')).toMatchObject({ attempts: 2 });
    expect(attempt({ retryable: false }).run.state.status).toBe('failed');
    expect(attempt({ retryable: true, code: 'gone' }).run.state.status).toBe('failed');
  });

  it('skip disabled nodes and what needs them', () => {
    const run = simulate({
      nodes: [node('off', 'core.noop', {}, { disabled: true }), node('next')],
      edges: chain('off', 'next'),
    });

    run.start();

    expect(run.run.state.nodes.get('off')).toMatchObject({ status: 'skipped', reason: 'disabled' });
    expect(run.run.state.nodes.get('next')?.status).toBe('skipped');
  });
});

describe('effects', () => {
  it('are asked for after their start is on record, and only as many at a time as allowed', () => {
    const run = simulate(
      { nodes: ['a', 'b', 'c'].map((id) => node(id, 'test.effect')), edges: [edge('a', 'c')] },
      { limits: { concurrency: 1 } },
    );

    run.start();

    expect([...run.open.keys()]).toEqual(['a']);
    run.succeed('a');
    expect([...run.open.keys()]).toEqual(['b']);
    run.succeed('b');
    expect([...run.open.keys()]).toEqual(['c']);
  });

  it('take an outcome once, and ignore one of an earlier attempt', () => {
    const run = simulate({ nodes: [node('a', 'test.effect')] });
    run.start();
    const outcome = { ok: true, outputs: {} } as const;

    const stale = run.step({ type: 'outcome', key: 'a', attempt: 7, outcome });
    const taken = run.step({ type: 'outcome', key: 'a', attempt: 0, outcome });
    const again = run.step({ type: 'outcome', key: 'a', attempt: 0, outcome });

    expect(stale.events).toEqual([]);
    expect(taken.events.map((event) => event.type)).toEqual(['node.completed', 'run.completed']);
    expect(again.events).toEqual([]);
  });

  it('are repeated with the same inputs after a crash, though a variable has changed since', () => {
    const run = simulate({
      nodes: [
        node('call', 'test.effect', {}, { inputs: { v: { type: 'variable', variableName: 'v' } } }),
        node('wait', 'core.delay', { ms: 5 }),
        node('write', 'core.setVariable', { name: 'v', value: 'new' }),
      ],
      edges: [edge('wait', 'write')],
      variables: [variable('v', { defaultValue: 'old' })],
    });
    run.start();
    run.passTime();

    run.crash();

    expect(run.run.state.variables.get('v')).toBe('new');
    expect(run.open.get('call')?.inputs).toEqual({ v: 'old' });
    expect(run.log.filter((event) => event.type === 'node.started' && event.nodeId === 'call')).toHaveLength(
      1,
    );
  });

  it('fail after a crash when their outcome must not be guessed', () => {
    const run = simulate({
      nodes: [node('pay', 'test.effect', {}, { settings: { onUnknownOutcome: 'fail' } })],
    });
    run.start();

    run.crash();

    expect(run.open.size).toBe(0);
    expect(run.run.state.error?.code).toBe('effect_outcome_unknown');
  });

  it('fail when their outputs are larger than an event may be', () => {
    const run = simulate({ nodes: [node('a', 'test.effect')] }, { limits: { maxPayloadBytes: 50 } });
    run.start();

    run.succeed('a', { output: 'x'.repeat(100) });

    expect(run.run.state.error).toMatchObject({ code: 'output_too_large', details: { limit: 50 } });
  });
});

describe('delays', () => {
  it('end when their time has come, also after a crash in between', () => {
    const run = simulate({ nodes: [node('wait', 'core.delay', { ms: 1000 })] });
    run.start();

    run.now += 400;
    run.crash();
    run.passTime();

    expect(run.now - START).toBe(1000);
    expect(run.run.state.status).toBe('completed');
  });

  it('time out as an attempt when the node allows less than the delay', () => {
    const run = simulate({
      nodes: [node('wait', 'core.delay', { ms: 1000 }, { settings: { timeoutMs: 100 } })],
    });
    run.start();

    run.passTime();

    expect(run.run.state.error?.code).toBe('node_timeout');
  });
});

describe('caps', () => {
  it('refuse the node over the execution limit before it starts, and say so once', () => {
    const ids = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
    const run = simulate(
      { nodes: ids.map((id) => node(id)), edges: chain(...ids) },
      { limits: { nodeExecutions: 3 } },
    );

    run.start();

    expect(run.story().filter((line) => line.startsWith('node.started'))).toHaveLength(3);
    expect(run.payload('cap.breached')).toEqual({
      kind: 'node-executions',
      limit: 3,
      observed: 4,
      nodeId: 'n4',
    });
    expect(run.story().slice(-2)).toEqual(['cap.breached n4', 'run.failed']);
    expect(run.run.state.error?.code).toBe('recursion_limit_exceeded');
  });

  it('end a run that has been active for too long, whatever it is doing', () => {
    const run = simulate(
      {
        nodes: [node('wait', 'core.delay', { ms: 30_000 }), node('call', 'test.effect')],
        edges: [edge('wait', 'call')],
      },
      { limits: { runDurationMs: 1000 } },
    );
    run.start();

    run.passTime();

    expect(run.payload('cap.breached')).toEqual({ kind: 'run-duration', limit: 1000, observed: 1001 });
    expect(run.story().slice(-3)).toEqual(['cap.breached', 'node.cancelled wait', 'run.failed']);
    expect(run.run.state.error?.code).toBe('run_timeout');
  });

  describe("from the workflow's settings.timeout", () => {
    it('do not count delays', () => {
      const run = simulate(
        {
          nodes: [node('wait', 'core.delay', { ms: 600_000 }), node('call', 'test.effect')],
          edges: [edge('wait', 'call')],
        },
        { limits: { workflowTimeoutMs: 60_000 } },
      );
      run.start();

      run.passTime();
      run.crash();
      run.now += 60_000;
      run.succeed('call');

      expect(run.now - START).toBe(660_000);
      expect(run.run.state.status).toBe('completed');
    });

    it('count what is done next to a delay, and after it', () => {
      const run = simulate(
        {
          nodes: [
            node('wait', 'core.delay', { ms: 5_000 }),
            node('call', 'test.effect'),
            node('end', 'test.effect'),
          ],
          edges: [edge('wait', 'end'), edge('call', 'end')],
        },
        { limits: { workflowTimeoutMs: 1_000 } },
      );
      run.start();
      run.now += 600;
      run.succeed('call');

      run.passTime();
      run.passTime();

      expect(run.now - START).toBe(5_000 + 401);
      expect(run.payload('cap.breached')).toEqual({ kind: 'run-duration', limit: 1000, observed: 1001 });
      expect(run.run.state.error?.code).toBe('run_timeout');
    });
  });

  it('do not count paused time', () => {
    const run = simulate({ nodes: [node('call', 'test.effect')] }, { limits: { runDurationMs: 1000 } });
    run.start();
    run.now += 500;
    run.command({ type: 'pause', policy: 'immediate' });
    run.now += 60_000;

    run.command({ type: 'resume' });

    expect(run.run.state.status).toBe('running');
    run.now += 499;
    run.succeed('call');
    expect(run.run.state.status).toBe('completed');
  });
});

describe('commands', () => {
  it('cancel stops what is running and ends the log', () => {
    const run = simulate({
      nodes: [node('a', 'test.effect'), node('b', 'core.delay', { ms: 50 })],
      edges: [edge('a', 'b', { rule: 'all_complete' })],
    });
    run.start();

    const step = run.command({ type: 'cancel', reason: 'no longer needed', by: 'key_1' });

    expect(step.commandResult).toMatchObject({ applied: true, status: 'cancelled' });
    expect(run.aborted).toEqual(['a']);
    expect(run.story().slice(-2)).toEqual(['node.cancelled a', 'run.cancelled']);
    expect(run.payload('run.cancelled')).toEqual({ reason: 'no longer needed', cancelledBy: 'key_1' });
  });

  it('cancel of a pending run leaves one event', () => {
    const run = simulate({ nodes: [node('a')] });

    run.command({ type: 'cancel' });

    expect(run.story()).toEqual(['run.cancelled']);
  });

  it('change nothing once the run has ended (E-4)', () => {
    const run = simulate({ nodes: [node('a')] });
    run.start();
    const length = run.log.length;

    const commandResults = [
      run.command({ type: 'cancel' }),
      run.command({ type: 'pause', policy: 'immediate' }),
      run.command({ type: 'resume' }),
    ].map((step) => step.commandResult);

    expect(commandResults).toEqual(Array(3).fill({ applied: false, status: 'completed' }));
    expect(run.log).toHaveLength(length);
  });

  it('pause with drain waits for what is in flight and starts nothing new', () => {
    const run = simulate({ nodes: [node('a', 'test.effect'), node('b')], edges: chain('a', 'b') });
    run.start();
    const pause = { type: 'pause', policy: 'drain-current-node', reason: 'maintenance' } as const;

    expect(run.command(pause).commandResult).toBeUndefined();
    run.succeed('a');
    expect(run.run.state.nodes.has('b')).toBe(false);
    expect(run.command(pause).commandResult).toMatchObject({ applied: true, status: 'paused' });

    expect(run.story().slice(-2)).toEqual(['node.completed a', 'run.paused']);
    expect(run.payload('run.paused')).toEqual({ drainPolicy: 'drain-current-node', reason: 'maintenance' });
    run.command({ type: 'resume' });
    expect(run.run.state.status).toBe('completed');
  });

  it('pause with drain takes effect though only an open question is left', () => {
    const run = simulate({
      nodes: [node('call', 'test.effect'), node('gate', 'core.approvalGate'), node('next')],
      edges: chain('call', 'next'),
    });
    run.start();
    const pause = { type: 'pause', policy: 'drain-current-node' } as const;
    run.command(pause);
    run.succeed('call');

    expect(run.command(pause).commandResult).toMatchObject({ applied: true, status: 'paused' });

    run.command({ type: 'resume' });
    expect(run.run.state.nodes.get('next')?.status).toBe('completed');
    expect(run.run.state.status).toBe('waiting-approval');
  });

  it('pause with drain brings a delay to its end at once', () => {
    const run = simulate({
      nodes: [node('wait', 'core.delay', { ms: 86_400_000 }), node('b')],
      edges: chain('wait', 'b'),
    });
    run.start();

    const step = run.command({ type: 'pause', policy: 'drain-current-node' });

    expect(step.commandResult).toMatchObject({ applied: true });
    expect(run.story().slice(-2)).toEqual(['node.completed wait', 'run.paused']);
  });

  it('immediate pause keeps a delay, which fires on resume when it is overdue', () => {
    const run = simulate({ nodes: [node('wait', 'core.delay', { ms: 1000 })] });
    run.start();
    run.command({ type: 'pause', policy: 'immediate' });
    run.now += 5000;
    run.settle({ type: 'tick' });
    expect(run.run.state.status).toBe('paused');

    run.command({ type: 'resume' });

    expect(run.run.state.status).toBe('completed');
  });

  it('immediate pause aborts an effect, which starts again as a new attempt', () => {
    const run = simulate({ nodes: [node('a', 'test.effect')] });
    run.start();

    run.command({ type: 'pause', policy: 'immediate' });
    expect(run.aborted).toEqual(['a']);
    run.command({ type: 'resume' });

    expect(run.open.get('a')?.attempt).toBe(1);
    run.fail('a', { retryable: false });
    expect(run.payload('node.failed')).toMatchObject({ attempts: 2 });
  });

  it('a second pause is refused and says since when', () => {
    const run = simulate({ nodes: [node('a', 'test.effect')] });
    run.start();
    run.command({ type: 'pause', policy: 'immediate' });

    const again = run.command({ type: 'pause', policy: 'immediate' });

    expect(again.commandResult).toEqual({ applied: false, status: 'paused', pausedAt: START });
  });
});

describe('loops', () => {
  const double = (items: number[], rest: object = {}) =>
    simulate({
      nodes: [
        node('each', 'core.loop', { body: ['work'], items, maxIterations: 10, ...rest }),
        node(
          'work',
          'core.identity',
          {},
          { inputs: { output: { type: 'expression', expression: 'item * 2' } } },
        ),
        node('after'),
      ],
      edges: [edge('each', 'after')],
    });

  it('run their body once per item and output the results in item order', () => {
    const run = double([1, 2, 3]);

    run.start();

    expect(run.run.state.nodes.get('each')?.outputs).toEqual({ output: [2, 4, 6] });
    expect(run.run.state.nodes.get('work[2]')?.iteration).toEqual([2]);
    expect(run.payload('node.started', 'work')).toMatchObject({ iteration: [0] });
    expect(run.run.state.status).toBe('completed');
  });

  it('complete at once without items, and fail over their own limit', () => {
    expect(double([]).start().events.length).toBeGreaterThan(0);
    const over = double([1, 2, 3], { maxIterations: 2 });

    over.start();

    expect(over.run.state.error).toMatchObject({ code: 'loop_limit_exceeded' });
  });

  it('continue while their condition holds', () => {
    const run = simulate({
      nodes: [
        node('count', 'core.loop', { body: ['step'], while: 'variables.n < 3', maxIterations: 10 }),
        node('step', 'core.setVariable', { name: 'n', expression: 'variables.n + 1' }),
      ],
      variables: [{ name: 'n', type: 'number', defaultValue: 0 }],
      edges: [],
    });

    run.start();

    expect(run.run.state.variables.get('n')).toBe(3);
    expect(run.run.state.status).toBe('completed');
  });

  it('fail with the error of the iteration that failed', () => {
    const run = simulate({
      nodes: [
        node('each', 'core.loop', { body: ['call'], items: [1, 2], maxIterations: 5 }),
        node('call', 'test.effect'),
      ],
    });
    run.start();
    run.succeed('call[0]', { output: 'ok' });

    run.fail('call[1]', { code: 'boom' });

    expect(run.run.state.error).toMatchObject({ code: 'boom', details: { iteration: 1, nodeId: 'call' } });
  });

  it('continue in the right iteration after a crash', () => {
    const run = simulate({
      nodes: [
        node('each', 'core.loop', { body: ['call'], items: ['a', 'b'], maxIterations: 5 }),
        node('call', 'test.effect'),
      ],
    });
    run.start();
    run.succeed('call[0]', { output: 1 });

    run.crash();
    run.succeed('call[1]', { output: 2 });

    expect(run.run.state.nodes.get('each')?.outputs).toEqual({ output: [1, 2] });
  });

  it('may stand inside each other', () => {
    const run = simulate({
      nodes: [
        node('outer', 'core.loop', { body: ['inner'], items: [[1, 2], [3]], maxIterations: 5 }),
        node('inner', 'core.loop', { body: ['cell'], items: 'item', maxIterations: 5 }),
        node(
          'cell',
          'core.identity',
          {},
          { inputs: { output: { type: 'expression', expression: 'item + 10' } } },
        ),
      ],
    });

    run.start();

    expect(run.run.state.nodes.get('outer')?.outputs).toEqual({ output: [[11, 12], [13]] });
    expect(run.run.state.nodes.has('cell[1][0]')).toBe(true);
  });
});

describe('what must not be seen', () => {
  it('sensitive variables are masked in events and known to the fold', () => {
    const run = simulate({
      nodes: [
        node('set', 'core.setVariable', { name: 'token', value: 'hunter2-hunter2' }),
        node(
          'echo',
          'core.identity',
          {},
          { inputs: { output: { type: 'variable', variableName: 'token' } } },
        ),
      ],
      variables: [variable('token', { sensitive: true, defaultValue: 'old-secret-value' })],
    });

    run.start();

    const publicText = run.log.map((event) => event.payload).join('\n');
    expect(publicText).not.toContain('hunter2');
    expect(publicText).not.toContain('old-secret-value');
    expect(run.run.state.variables.get('token')).toBe('hunter2-hunter2');
    expect(fold(run.plan, run.record, run.log).variables.get('token')).toBe('hunter2-hunter2');
  });

  it('sensitive output ports are masked wherever the value goes', () => {
    const run = simulate({
      nodes: [
        node('fetch', 'test.effect', {}, { outputSensitivity: { output: true } }),
        node('use', 'core.identity', {}),
      ],
      edges: chain('fetch', 'use'),
    });
    run.start();

    run.succeed('fetch', { output: 'patient-4711-record' });

    expect(run.log.map((event) => event.payload).join('\n')).not.toContain('patient-4711');
    expect(run.payload('node.completed', 'fetch')).toMatchObject({ outputs: { output: '[REDACTED]' } });
  });

  it('run inputs are in no event, not even through core.start', () => {
    const run = simulate(
      { nodes: [node('start', 'core.start')] },
      { inputs: { marker: 'canary-input-value' } },
    );

    run.start();

    expect(run.log.map((event) => event.payload).join('\n')).not.toContain('canary-input-value');
    expect(run.run.state.nodes.get('start')?.outputs).toMatchObject({ marker: 'canary-input-value' });
  });

  it('credential-shaped strings are masked without being declared sensitive', () => {
    const key = `sk-${'a1B2'.repeat(8)}`;
    const run = simulate({ nodes: [node('a', 'test.effect')] });
    run.start();

    run.succeed('a', { output: { nested: [`Authorization: Bearer ${key}`] } });

    expect(run.log.map((event) => event.payload).join('\n')).not.toContain(key);
  });
});

describe('version pins', () => {
  it('are recorded at first use and hold for the rest of the run', () => {
    const run = simulate({
      nodes: [
        node('a', 'test.version', { change: 'c', min: 1, max: 3 }),
        node('b', 'test.version', { change: 'c', min: 1, max: 9 }),
      ],
      edges: chain('a', 'b'),
    });

    run.start();

    expect(run.log.filter((event) => event.type === 'version.pinned')).toHaveLength(1);
    expect(run.run.state.nodes.get('b')?.outputs).toEqual({ output: 3 });
  });

  it('outside the supported range fail the node', () => {
    const run = simulate({
      nodes: [
        node('a', 'test.version', { change: 'c', min: 1, max: 1 }),
        node('b', 'test.version', { change: 'c', min: 2, max: 3 }),
      ],
      edges: chain('a', 'b'),
    });

    run.start();

    expect(run.run.state.error?.code).toBe('version_out_of_range');
  });
});
