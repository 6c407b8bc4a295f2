import { describe, expect, it } from 'vitest';
import { chain, node } from '../testing/definitions.ts';
import { simulate, START } from '../testing/simulation.ts';

const gate = (config: object = {}) => simulate({ nodes: [node('gate', 'core.approvalGate', { ...config })] });
const started = (config: object = {}) => {
  const run = gate(config);
  run.start();
  return run;
};

describe('an approval gate', () => {
  it('suspends, asks, and leaves the run waiting for approval', () => {
    const run = started({ title: 'Ship it?' });

    expect(run.story()).toEqual([
      'run.started',
      'node.started gate',
      'node.suspended gate',
      'interrupt.requested gate',
      'approval.requested gate',
    ]);
    expect(run.run.state.status).toBe('waiting-approval');
    expect(run.payload('interrupt.requested')).toMatchObject({ kind: 'approval', interruptId: 'gate:0' });
  });

  it('completes with the answer when it is accepted', () => {
    const run = started();

    const step = run.answer('gate', { action: 'accept', feedback: 'fine' });

    expect(step.commandResult).toMatchObject({ applied: true, status: 'completed' });
    expect(run.story().slice(5)).toEqual([
      'approval.received gate',
      'interrupt.resolved gate',
      'node.resumed gate',
      'node.completed gate',
      'run.completed',
    ]);
    expect(run.payload('approval.received')).toMatchObject({ action: 'accept', decidedBy: 'key_1' });
  });

  it('fails the run when it is rejected', () => {
    const run = started();

    run.answer('gate', { action: 'reject' });

    expect(run.run.state.error?.code).toBe('approval_rejected');
  });

  it('takes the decisions of older clients', () => {
    const run = started({ actions: ['accept', 'reject', 'refine'] });

    run.answer('gate', { decision: 'rejected', feedback: 'shorter please' });

    expect(run.payload('approval.received')).toMatchObject({ action: 'refine' });
    expect(run.run.state.status).toBe('completed');
  });

  it('keeps a question back, and stays open', () => {
    const run = started({ actions: ['accept', 'ask'] });

    run.answer('gate', { action: 'ask', question: 'Why now?' });

    expect(run.run.state.status).toBe('waiting-approval');
    expect(run.story().at(-1)).toBe('weft.approval.asked gate');
  });

  const wrong = [
    [{ action: 'maybe' }, 'validation_error'],
    ['accept', 'validation_error'],
    [{}, 'validation_error'],
    [{ action: 'edit-accept' }, 'validation_error'],
  ] as const;
  it.each(wrong)('refuses %j and leaves the log as it was (E-22)', (value, code) => {
    const run = started();
    const before = JSON.stringify(run.log);

    const step = run.answer('gate', value);

    expect(step.commandResult).toMatchObject({
      applied: false,
      status: 'waiting-approval',
      refusal: { code },
    });
    expect(JSON.stringify(run.log)).toBe(before);
  });

  it('is not there for a node that asked nothing, and answered only once (E-23)', () => {
    const run = simulate({
      nodes: [node('gate', 'core.approvalGate'), node('next', 'test.effect')],
      edges: chain('gate', 'next'),
    });
    run.start();

    const elsewhere = run.answer('next', { action: 'accept' });
    run.answer('gate', { action: 'accept' });
    const again = run.answer('gate', { action: 'reject' });

    expect(elsewhere.commandResult).toMatchObject({ refusal: { code: 'interrupt_not_found' } });
    expect(again.commandResult).toMatchObject({ refusal: { code: 'interrupt_already_resolved' } });
    expect(run.run.state.status).toBe('running');
  });

  it('counts as rejected without an answer in time, also after a crash', () => {
    const run = started({ timeoutMs: 1000 });

    run.crash();
    run.passTime();

    expect(run.now - START).toBe(1000);
    expect(run.payload('interrupt.resolved')).toMatchObject({ outcome: 'rejected', reason: 'timeout' });
    expect(run.run.state.error?.code).toBe('interrupt_timeout');
  });

  it('is withdrawn when the run is cancelled', () => {
    const run = started();

    run.command({ type: 'cancel' });

    expect(run.story().slice(-2)).toEqual(['node.cancelled gate', 'run.cancelled']);
    expect(run.run.state.nodes.get('gate')?.interrupt?.closed).toBe('cancelled');
  });

  it('does not hold up other branches, and waiting time is not active time', () => {
    const run = simulate(
      { nodes: [node('gate', 'core.approvalGate'), node('call', 'test.effect')], edges: [] },
      { limits: { runDurationMs: 1000 } },
    );
    run.start();
    run.now += 60_000;

    run.answer('gate', { action: 'accept' });

    expect(run.run.state.status).toBe('running');
    expect([...run.open.keys()]).toEqual(['call']);
  });

  it('can be opened through a signed link only where the gate allows it', () => {
    const run = started({ profile: 'openwop-interrupt-auth-required' });

    const viaLink = run.answer('gate', { action: 'accept' }, { viaLink: true });
    const withKey = run.answer('gate', { action: 'accept' });

    expect(viaLink.commandResult).toMatchObject({ refusal: { code: 'auth_elevation_required' } });
    expect(withKey.commandResult).toMatchObject({ applied: true });
  });
});

describe('a clarification', () => {
  it('is not answered by what every object has', () => {
    const run = simulate({
      nodes: [
        node('ask', 'core.clarificationGate', {
          questions: [{ id: 'constructor', question: 'Who built it?' }],
        }),
      ],
    });
    run.start();

    const step = run.answer('ask', { answers: {} });

    expect(step.commandResult).toMatchObject({ applied: false, refusal: { code: 'validation_error' } });
  });
});

describe('a quorum', () => {
  const quorum = (rest: object = {}) =>
    started({ requiredApprovals: 3, rejectionPolicy: 'majority', ...rest });

  it('is met by three voices, of which each counts once', () => {
    const run = quorum();

    for (const voter of ['ada', 'ada', 'bob']) run.answer('gate', { action: 'accept', voter });
    expect(run.run.state.status).toBe('waiting-approval');
    run.answer('gate', { action: 'accept', voter: 'cyd' });

    expect(run.run.state.status).toBe('completed');
  });

  it('is lost when a majority of those required rejects', () => {
    const run = quorum();

    run.answer('gate', { action: 'reject', voter: 'ada' });
    expect(run.run.state.status).toBe('waiting-approval');
    run.answer('gate', { action: 'reject', voter: 'bob' });

    expect(run.run.state.error?.code).toBe('approval_rejected');
  });

  it.each(['ada\0', 'ad\u202ea', 'ada\ud800'])('counts no voice under a name that is none: %j', (voter) => {
    const run = quorum();

    run.answer('gate', { action: 'reject', voter });
    run.answer('gate', { action: 'reject', voter: 'bob' });

    expect(run.run.state.status).toBe('waiting-approval');
  });

  it('lets a voter change their mind', () => {
    const run = quorum();

    run.answer('gate', { action: 'reject', voter: 'ada' });
    run.answer('gate', { action: 'accept', voter: 'ada' });
    run.answer('gate', { action: 'reject', voter: 'bob' });

    expect(run.run.state.status).toBe('waiting-approval');
  });

  it('is lost to a single veto by default', () => {
    const run = started({ requiredApprovals: 3 });

    run.answer('gate', { action: 'reject', voter: 'ada' });

    expect(run.run.state.status).toBe('failed');
  });

  it('counts the authenticated user, whatever name the answer gives', () => {
    const run = started({ requiredApprovals: 2 });
    const asUser = { by: 'ada', byUser: true };

    run.answer('gate', { action: 'accept', voter: 'bob' }, asUser);
    run.answer('gate', { action: 'accept', voter: 'cyd' }, asUser);

    expect(run.run.state.status).toBe('waiting-approval');
  });

  it('counts a link as one voice, whatever names its holder gives', () => {
    const run = started({ requiredApprovals: 2 });
    const viaLink = { by: 'link:gate:0', viaLink: true };

    for (const voter of ['ada', 'bob', 'cyd']) run.answer('gate', { action: 'accept', voter }, viaLink);

    expect(run.run.state.status).toBe('waiting-approval');
  });

  it('takes no answer from names that are not on its list', () => {
    const run = started({ approversList: ['ada', 'bob'] });

    const stranger = run.answer('gate', { action: 'accept', voter: 'ada' });
    const listed = run.answer('gate', { action: 'accept' }, { by: 'bob', byUser: true });

    expect(stranger.commandResult).toMatchObject({ refusal: { code: 'forbidden' } });
    expect(listed.commandResult).toMatchObject({ applied: true });
  });
});

describe('a clarification', () => {
  const ask = () => {
    const questions = [{ id: 'q1', question: 'Colour?', schema: { type: 'string', maxLength: 10 } }];
    const run = simulate({ nodes: [node('ask', 'core.clarificationGate', { questions })] });
    run.start();
    return run;
  };

  it('waits for input and takes answers in both forms', () => {
    const byId = ask();
    const asList = ask();

    expect(byId.run.state.status).toBe('waiting-input');
    byId.answer('ask', { answers: { q1: 'blue' } });
    asList.answer('ask', { answers: [{ id: 'q1', answer: 'blue' }] });

    expect(byId.payload('clarification.resolved')).toMatchObject({ answers: { q1: 'blue' } });
    expect(asList.payload('clarification.resolved')).toMatchObject({ answers: { q1: 'blue' } });
    expect(asList.run.state.status).toBe('completed');
  });

  it.each([
    [{}, 'resumeValue.answers'],
    [{ answers: {} }, 'resumeValue.answers.q1'],
    [{ answers: { q1: 'far too long an answer' } }, 'resumeValue.answers.q1'],
    [{ answers: { q1: 'blue', q9: 'x' } }, 'resumeValue.answers.q9'],
  ])('refuses %j and names the field', (value, field) => {
    const run = ask();

    const step = run.answer('ask', value);

    expect(step.commandResult).toMatchObject({ refusal: { code: 'validation_error', details: { field } } });
  });
});

describe('an external event', () => {
  const wait = () => {
    const data = { eventType: 'order.paid', correlation: { orderId: 'o-1', status: 'done' } };
    const run = simulate({ nodes: [node('wait', 'core.interrupt', { kind: 'external-event', data })] });
    run.start();
    return run;
  };

  it('is taken when every value of the correlation comes back, whatever else comes', () => {
    const run = wait();
    expect(run.run.state.status).toBe('waiting-external');

    run.answer('wait', { orderId: 'o-1', status: 'done', amount: 5 });

    expect(run.run.state.status).toBe('completed');
  });

  it('of another correlation is refused, and the run keeps waiting', () => {
    const run = wait();

    const step = run.answer('wait', { orderId: 'o-2', status: 'done' });

    expect(step.commandResult).toMatchObject({
      refusal: { code: 'correlation_mismatch' },
      status: 'waiting-external',
    });
  });
});
