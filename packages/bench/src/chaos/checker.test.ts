import { describe, expect, it } from 'vitest';
import { checkHistory, HISTORY_RULES, type HistoryRuleId } from './checker.ts';
import type { FinalRun, History } from './history.ts';

const AT = Date.parse('2026-01-01T00:00:00.000Z');

function event(sequence: number, type: string, rest: { nodeId?: string; payload?: object } = {}): string {
  const { nodeId, payload = {} } = rest;
  return JSON.stringify({
    sequence,
    type,
    timestamp: new Date(AT + sequence).toISOString(),
    ...(nodeId !== undefined && { nodeId }),
    payload: { ...(nodeId !== undefined && { nodeId }), ...payload },
  });
}

const CALL = JSON.stringify({ tag: 'client-0', node: 'call-a', index: '-' });

/** A run that calls the world, asks a person, starts a child and completes. */
const LOG = [
  event(0, 'run.started'),
  event(1, 'node.started', { nodeId: 'call-a', payload: { attempt: 0 } }),
  event(2, 'node.completed', { nodeId: 'call-a' }),
  event(3, 'node.started', { nodeId: 'gate', payload: { attempt: 0 } }),
  event(4, 'node.suspended', { nodeId: 'gate' }),
  event(5, 'approval.received', { nodeId: 'gate', payload: { interruptId: 'gate:0', decidedBy: 'ada' } }),
  event(6, 'interrupt.resolved', { nodeId: 'gate', payload: { interruptId: 'gate:0', voter: 'ada' } }),
  event(7, 'node.resumed', { nodeId: 'gate' }),
  event(8, 'node.completed', { nodeId: 'gate' }),
  event(9, 'node.started', { nodeId: 'sub', payload: { attempt: 0 } }),
  event(10, 'node.dispatched', { nodeId: 'sub', payload: { childRunId: 'child-1' } }),
  event(11, 'node.completed', { nodeId: 'sub' }),
  event(12, 'run.completed'),
];

const RUN: FinalRun = {
  runId: 'run-1',
  workflowId: 'w',
  tags: ['client-0'],
  status: 'completed',
  log: LOG,
};
const CHILD: FinalRun = {
  runId: 'child-1',
  workflowId: 'c',
  tags: [],
  parentRunId: 'run-1',
  status: 'completed',
  log: [event(0, 'run.started'), event(1, 'run.completed')],
};

const SOUND: History = {
  seed: 1,
  store: 'postgres',
  created: [{ tag: 'client-0', runId: 'run-1' }],
  streams: [
    { runId: 'run-1', after: -1, events: streamed(0, 3) },
    { runId: 'run-1', after: 2, events: streamed(3, 13) },
  ],
  answers: [
    { runId: 'run-1', interruptId: 'gate:0', marker: 'ada', voices: 1, status: 200 },
    { runId: 'run-1', interruptId: 'gate:0', marker: 'bob', voices: 1, status: 409 },
  ],
  cancels: [{ runId: 'run-1', status: 'completed' }],
  mishaps: [],
  effects: [
    { call: CALL, invocationId: 'id-1', at: AT },
    { call: CALL, invocationId: 'id-1', at: AT + 900 },
  ],
  thaws: [],
  exits: [],
  runs: [RUN, CHILD],
};

function streamed(from: number, to: number) {
  return LOG.slice(from, to).map((text, index) => ({ sequence: from + index, text, at: AT + 1_000 + from }));
}

const withLog = (log: readonly string[], rest: Partial<FinalRun> = {}): Partial<History> => ({
  runs: [{ ...RUN, log, ...rest }, CHILD],
  streams: [],
});

const BROKEN: readonly [HistoryRuleId, string, Partial<History>][] = [
  ['C1', 'an acknowledged run that is gone', { created: [{ tag: 'client-9', runId: 'run-9' }] }],
  ['C1', 'two runs of one request', { runs: [RUN, CHILD, { ...RUN, runId: 'run-2' }] }],
  [
    'C2',
    'a streamed event that the log has otherwise',
    { streams: [{ runId: 'run-1', after: 0, events: [{ sequence: 1, text: event(1, 'other'), at: AT }] }] },
  ],
  ['C3', 'a stream with a gap', { streams: [{ runId: 'run-1', after: -1, events: streamed(1, 4) }] }],
  ['C4', 'a log with a gap', withLog(LOG.filter((_, index) => index !== 5))],
  ['C4', 'two terminal events', withLog([...LOG, event(13, 'run.completed')])],
  ['C5', 'a status that the log does not have', withLog(LOG, { status: 'failed' })],
  ['C5', 'a run that nobody advances', withLog(LOG.slice(0, 3), { status: 'running', waitingFor: 'claim' })],
  ['C6', 'an effect after its outcome', { effects: [{ call: CALL, invocationId: 'id-1', at: AT + 60_000 }] }],
  [
    'C7',
    'a repeat under another id',
    { effects: [...SOUND.effects, { call: CALL, invocationId: 'id-2', at: AT }] },
  ],
  [
    'C7',
    'two effects under one id',
    { effects: [...SOUND.effects, { call: 'another', invocationId: 'id-1', at: AT }] },
  ],
  [
    'C8',
    'an answer that was taken and is gone',
    { answers: [{ runId: 'run-1', interruptId: 'talk:0', marker: 'eve', voices: 9, status: 200 }] },
  ],
  ['C8', 'an answer that is there twice', withLog([...LOG.slice(0, 6), ...LOG.slice(5)])],
  ['C9', 'a question that is resolved twice', withLog([...LOG.slice(0, 7), ...LOG.slice(6)])],
  [
    'C9',
    'more answers than were asked for',
    {
      answers: ['ada', 'decidedBy'].map((marker) => ({
        ...{ runId: 'run-1', interruptId: 'gate:0', marker, voices: 1, status: 200 },
      })),
    },
  ],
  ['C10', 'a cancel that was not', { cancels: [{ runId: 'run-1', status: 'cancelled' }] }],
  ['C11', 'a child that is announced and missing', { runs: [RUN] }],
  ['C11', 'a child that nobody announced', { runs: [RUN, CHILD, { ...CHILD, runId: 'child-2' }] }],
  ['C12', 'an internal error', { mishaps: [{ request: 'GET /', status: 500, body: '{}' }] }],
  ['C13', 'a process that ended', { exits: [{ place: 0, code: 1, lastWords: 'oh' }] }],
];

describe('the checker of histories', () => {
  it('finds nothing in a sound history', () => {
    expect(checkHistory(SOUND).violations).toEqual([]);
  });

  it.each(BROKEN)('reports %s for %s', (rule, _, change) => {
    const { violations } = checkHistory({ ...SOUND, ...change });

    expect(violations.map((violation) => violation.rule)).toContain(rule);
  });

  it('has a broken history for every rule', () => {
    expect(new Set(BROKEN.map(([rule]) => rule))).toEqual(new Set(HISTORY_RULES.map(({ id }) => id)));
  });

  it('lets a process that was asleep send what it was about to', () => {
    const late = { call: CALL, invocationId: 'id-1', at: AT + 60_000 };

    const { violations } = checkHistory({ ...SOUND, effects: [late], thaws: [AT + 59_500] });

    expect(violations).toEqual([]);
  });

  it('misses no child of a run that was cancelled before it could be made', () => {
    const log = [
      ...LOG.slice(0, 11),
      event(11, 'node.cancelled', { nodeId: 'sub' }),
      event(12, 'run.cancelled'),
    ];
    const runs = [{ ...RUN, status: 'cancelled', log }];

    expect(checkHistory({ ...SOUND, streams: [], cancels: [], runs }).violations).toEqual([]);
  });

  it('believes an answer that is only kept neither to be taken nor lost', () => {
    const kept = { runId: 'run-1', interruptId: 'gate:0', marker: 'eve', voices: 1, status: 202 };

    expect(checkHistory({ ...SOUND, answers: [...SOUND.answers, kept] }).violations).toEqual([]);
  });

  it('counts the facts it has looked at', () => {
    expect(checkHistory(SOUND).facts).toMatchObject({ C1: 1, C2: 13, C3: 2, C4: 2, C6: 2, C8: 1, C11: 1 });
  });
});
