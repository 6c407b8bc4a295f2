import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { checkLog } from '../fold/log-checker.ts';
import { chain, node, type WorkflowSpec } from '../testing/definitions.ts';
import { logEntries, simulate, START, type Simulation } from '../testing/simulation.ts';

function talking(config: JsonObject = {}, rest: Partial<WorkflowSpec> = {}): Simulation {
  const run = simulate({ nodes: [node('talk', 'core.conversationGate', config)], ...rest });
  run.start();
  return run;
}

const say = (run: Simulation, content: string) => run.answer('talk', { content });
const isLegal = (run: Simulation) =>
  expect(checkLog(logEntries(run.log), { terminal: run.run.state.endedAt !== undefined })).toEqual([]);
const turnsIn = (run: Simulation, channel = 'conversation') => run.run.state.channels.get(channel);
const MESSAGES = { conversation: { reducer: 'message' } };

describe('a conversation', () => {
  it('opens with the agent’s turn and waits', () => {
    const run = talking({ prompt: 'Hello?' });

    expect(run.story().slice(1)).toEqual([
      'node.started talk',
      'node.suspended talk',
      'conversation.opened talk',
      'interrupt.requested talk',
    ]);
    expect(run.payload('node.suspended')).toMatchObject({ reason: 'conversation-input' });
    expect(run.payload('conversation.opened')).toMatchObject({
      conversationId: 'talk',
      initialTurn: { messageId: 'talk:0:agent', turnIndex: 0, role: 'agent', content: 'Hello?' },
    });
    expect(run.log.find(({ type }) => type === 'conversation.opened')?.causeSeq).toBe(2);
    expect(run.run.state.status).toBe('waiting-approval');
  });

  it('proceeds turn by turn, and stays open until a participant closes it (E-24)', () => {
    const run = talking();

    const first = say(run, 'one');
    run.crash();
    say(run, 'two');
    run.answer('talk', { operation: 'close', outcome: { agreed: true }, reason: 'agreed' });

    expect(first.commandResult).toMatchObject({ applied: true, status: 'waiting-approval' });
    const exchanged = run.log.filter(({ type }) => type === 'conversation.exchanged');
    expect(exchanged.map(({ payload }) => (JSON.parse(payload) as JsonObject)['turnIndex'])).toEqual([1, 2]);
    expect(run.payload('conversation.closed')).toMatchObject({
      turnIndex: 3,
      turnCount: 4,
      reason: 'agreed',
    });
    expect(run.payload('node.completed')).toMatchObject({
      outputs: { conversationId: 'talk', turnCount: 4, outcome: { agreed: true }, reason: 'agreed' },
    });
    isLegal(run);
  });

  it('closes by itself after its number of turns, with the last word as outcome (E-24)', () => {
    const run = talking({ turnCount: 2 });

    say(run, 'one');
    say(run, 'two');

    expect(run.run.state.status).toBe('completed');
    expect(run.payload('conversation.closed')).toMatchObject({
      outcome: 'two',
      reason: 'turn-count-reached',
      finalTurn: { role: 'system' },
    });
    isLegal(run);
  });

  it('takes a turn as older clients write it', () => {
    const run = talking({ turnCount: 1 });

    run.answer('talk', { operation: 'exchange', turn: { content: 'hi' } });

    expect(run.payload('conversation.exchanged')).toMatchObject({ turn: { content: 'hi', role: 'user' } });
  });

  it('is closed by silence, without an outcome, also when some turns were taken (E-24)', () => {
    const run = talking({ timeoutMs: 500 });
    say(run, 'one');

    run.crash();
    run.passTime();

    expect(run.now - START).toBe(500);
    expect(run.payload('interrupt.resolved')).toMatchObject({ outcome: 'rejected', reason: 'timeout' });
    expect(run.payload('node.completed')).toMatchObject({ outputs: { outcome: null, reason: 'timeout' } });
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });

  const wrong = [
    [{}, 'resumeValue.content'],
    [{ operation: 'shout', content: 'x' }, 'resumeValue.operation'],
    [{ content: 7 }, 'resumeValue.content'],
    [{ content: 'far too long' }, 'resumeValue.content'],
  ] as const;
  it.each(wrong)('refuses the turn %j and leaves the log as it was', (value, field) => {
    const run = talking({ schema: { type: 'string', maxLength: 5 } });
    const before = JSON.stringify(run.log);

    const step = run.answer('talk', value);

    expect(step.commandResult).toMatchObject({
      applied: false,
      refusal: { code: 'validation_error', details: { field } },
    });
    expect(JSON.stringify(run.log)).toBe(before);
    say(run, 'short');
    expect(run.payload('conversation.exchanged')).toMatchObject({ turnIndex: 1 });
  });

  it('rejects a late answer', () => {
    const run = simulate({
      nodes: [node('talk', 'core.conversationGate', { turnCount: 1 }), node('after', 'test.effect')],
      edges: chain('talk', 'after'),
    });
    run.start();
    say(run, 'last');

    const late = say(run, 'later');

    expect(late.commandResult).toMatchObject({ refusal: { code: 'interrupt_already_resolved' } });
  });

  it('is withdrawn with its run', () => {
    const run = talking();

    run.command({ type: 'cancel' });

    expect(run.run.state.nodes.get('talk')?.interrupt?.closed).toBe('cancelled');
    isLegal(run);
  });

  it('has an id of its own in each iteration of a loop', () => {
    const run = simulate({
      nodes: [
        node('each', 'core.loop', { body: ['talk'], items: [1, 2], maxIterations: 2 }),
        node('talk', 'core.conversationGate', { turnCount: 1 }),
      ],
    });
    run.start();
    say(run, 'first');
    say(run, 'second');

    const ids = run.log
      .filter(({ type }) => type === 'conversation.closed')
      .map(({ payload }) => (JSON.parse(payload) as JsonObject)['conversationId']);
    expect(ids).toEqual(['talk[0]', 'talk[1]']);
    isLegal(run);
  });
});

describe('the channel of a conversation', () => {
  it('holds every turn, from the opening one to the last (E-25)', () => {
    const run = talking({ turnCount: 2 }, { channels: MESSAGES });

    say(run, 'one');
    say(run, 'two');

    expect(turnsIn(run)).toMatchObject([
      { messageId: 'talk:0:agent' },
      { messageId: 'talk:1:user', content: 'one' },
      { messageId: 'talk:2:user', content: 'two' },
      { messageId: 'talk:3:system' },
    ]);
    isLegal(run);
  });

  it('may have another name, and nothing is kept where none is declared', () => {
    const named = talking(
      { channel: 'notes', turnCount: 1 },
      { channels: { notes: { reducer: 'message' } } },
    );
    const unnamed = talking({ turnCount: 1 }, { channels: { conversation: { reducer: 'append' } } });

    say(named, 'one');
    say(unnamed, 'one');

    expect(turnsIn(named, 'notes')).toHaveLength(3);
    expect(unnamed.story().join()).not.toContain('channel.written');
  });

  it('that may not be written by the node fails it before anything is asked', () => {
    const run = talking(
      {},
      { channels: { conversation: { reducer: 'message', access: { writers: ['other'] } } } },
    );

    expect(run.run.state).toMatchObject({ status: 'failed', error: { code: 'channel_access_denied' } });
    expect(run.story().join()).not.toContain('conversation.opened');
    isLegal(run);
  });

  it('that is full refuses the turn and leaves the log as it was (E-25)', () => {
    const run = talking({}, { channels: { conversation: { reducer: 'message', maxSize: 2 } } });
    say(run, 'one');
    const before = JSON.stringify(run.log);

    const step = say(run, 'two');

    expect(step.commandResult).toMatchObject({ applied: false, refusal: { code: 'validation_error' } });
    expect(JSON.stringify(run.log)).toBe(before);
  });

  it('that is full does not keep a conversation from being closed, by a person or by silence (E-25)', () => {
    const channels = { conversation: { reducer: 'message', maxSize: 1 } };
    const closed = talking({}, { channels });
    const silent = talking({ timeoutMs: 10 }, { channels });

    closed.answer('talk', { operation: 'close' });
    silent.passTime();

    expect([closed.run.state.status, silent.run.state.status]).toEqual(['completed', 'completed']);
    expect(turnsIn(closed)).toHaveLength(1);
    isLegal(closed);
    isLegal(silent);
  });
});
