import { describe, expect, it } from 'vitest';
import { checkHistory } from './checker.ts';
import { BROKEN_STARTED, STARTED, STARTED_RUNS } from '../started/testing/started-histories.ts';
import type { FinalRun, History, Performance, SeenDelivery } from './history.ts';
import { HISTORY_RULES, type HistoryRuleId } from './rules.ts';
import {
  AT,
  event,
  CALL,
  LOG,
  RUN,
  CHILD,
  SECRET,
  KEPT_LOG,
  LAST,
  KEPT,
  RECALL,
  recalling,
  REPLAY,
  BRANCH,
  IMPORT,
  delivery,
  signed,
  DELIVERED,
  CALLBACK,
  VALID,
  streamed,
  ONCE,
  SERVED,
  served,
  TASK,
} from './testing/valid-history.ts';

/** The same history, with this run in place of the one of its id. */
const withRun = (run: FinalRun): Partial<History> => ({
  runs: [...VALID.runs.filter(({ runId }) => runId !== run.runId), run],
});

const withLog = (log: readonly string[], rest: Partial<FinalRun> = {}): Partial<History> => ({
  ...withRun({ ...RUN, log, ...rest }),
  streams: [],
});

const FIRST: Performance = {
  ...{ performance: '7-1', pid: 7, call: TASK, invocationId: 'id-2', attempt: 1, begunAt: AT - 9_000 },
};

const performed = (performance: Performance): Partial<History> => ({
  performances: [...VALID.performances, performance],
});

const GIVEN_UP = event(2, 'node.failed', { nodeId: 'call-a', payload: { code: 'effect_outcome_unknown' } });

const BROKEN: readonly [HistoryRuleId, string, Partial<History>][] = [
  ['C1', 'an acknowledged run that is gone', { created: [{ tag: 'client-9', runId: 'run-9' }] }],
  ['C1', 'two runs of one request', { runs: [...VALID.runs, { ...RUN, runId: 'run-2' }] }],
  [
    'C2',
    'a streamed event that the log has otherwise',
    { streams: [{ runId: 'run-1', after: 0, events: [{ sequence: 1, text: event(1, 'other'), at: AT }] }] },
  ],
  ['C3', 'a stream with a gap', { streams: [{ runId: 'run-1', after: -1, events: streamed(1, 4) }] }],
  ['C4', 'a log with a gap', withLog(LOG.filter((_, index) => index !== 5))],
  ['C4', 'two terminal events', withLog([...LOG, event(13, 'run.completed')])],
  ['C5', 'a status that the log does not have', withLog(LOG, { status: 'failed' })],
  [
    'C5',
    'a run that no process advances',
    withLog(LOG.slice(0, 3), { status: 'running', waitingFor: 'claim' }),
  ],
  ['C6', 'an effect after its outcome', { effects: [{ call: CALL, invocationId: 'id-1', at: AT + 60_000 }] }],
  [
    'C6',
    'an effect that was given up before',
    {
      streams: [{ runId: 'run-1', after: 1, events: [{ sequence: 2, text: GIVEN_UP, at: AT }] }],
      effects: [{ call: CALL, invocationId: 'id-1', at: AT + 60_000 }],
    },
  ],
  [
    'C7',
    'a repeat under another id',
    { effects: [...VALID.effects, { call: CALL, invocationId: 'id-2', at: AT }] },
  ],
  [
    'C7',
    'two effects under one id',
    { effects: [...VALID.effects, { call: 'another', invocationId: 'id-1', at: AT }] },
  ],
  [
    'C8',
    'an answer that was taken and is gone',
    { answers: [{ runId: 'run-1', interruptId: 'talk:0', marker: 'eve', votes: 9, status: 200 }] },
  ],
  [
    'C8',
    'an answer that was refused and taken',
    { answers: [{ runId: 'run-1', interruptId: 'gate:0', marker: 'ada', votes: 1, status: 409 }] },
  ],
  ['C8', 'an answer that is there twice', withLog([...LOG.slice(0, 6), ...LOG.slice(5)])],
  ['C9', 'a question that is resolved twice', withLog([...LOG.slice(0, 7), ...LOG.slice(6)])],
  [
    'C9',
    'more answers than were asked for',
    {
      answers: ['ada', 'decidedBy'].map((marker) => ({
        ...{ runId: 'run-1', interruptId: 'gate:0', marker, votes: 1, status: 200 },
      })),
    },
  ],
  ['C10', 'a cancel that was not', { cancels: [{ runId: 'run-1', status: 'cancelled', at: AT }] }],
  [
    'C10',
    'a run that continued long after it was cancelled',
    {
      cancels: [{ runId: 'run-1', status: 'cancelling', at: AT }],
      runs: VALID.runs.map((run) =>
        run === RUN ? { ...RUN, endedAt: new Date(AT + 60_000).toISOString() } : run,
      ),
    },
  ],
  [
    'C1',
    'one request that became two runs',
    { created: [...VALID.created, { tag: 'client-0', runId: 'kept-1' }] },
  ],
  ['C11', 'a child that is announced and missing', { runs: VALID.runs.filter((run) => run !== CHILD) }],
  ['C11', 'a child that no log announces', { runs: [...VALID.runs, { ...CHILD, runId: 'child-2' }] }],
  ['C12', 'an internal error', { unexpectedResponses: [{ request: 'GET /', status: 500, body: '{}' }] }],
  ['C13', 'a process that ended', { exits: [{ place: 0, code: 1, lastOutput: 'oh' }] }],
  ['C14', 'a fork that was never acknowledged', { forks: VALID.forks.slice(1) }],
  ['C14', 'a fork that is gone', { runs: VALID.runs.filter((run) => run !== BRANCH) }],
  [
    'C14',
    'a fork with another beginning',
    withRun({ ...BRANCH, log: [event(0, 'run.started'), ...BRANCH.log.slice(1)] }),
  ],
  [
    'C15',
    'a replay that says something else',
    withRun({ ...REPLAY, log: [...REPLAY.log.slice(0, 3), event(3, 'run.failed')] }),
  ],
  [
    'C16',
    'a delivery with a wrong signature',
    { deliveries: [...DELIVERED, delivery('kept-1', KEPT_LOG[0] ?? '', { signature: 'sha256=0' })] },
  ],
  [
    'C16',
    'a delivery to a webhook that was never registered',
    { deliveries: [...DELIVERED, delivery('kept-1', KEPT_LOG[0] ?? '', { webhookId: 'wh-9' })] },
  ],
  [
    'C16',
    'a delivery of what the log has otherwise',
    { deliveries: [...DELIVERED, delivery('kept-1', event(LAST, 'run.failed'))] },
  ],
  [
    'C16',
    'a delivery of a replay',
    { deliveries: [...DELIVERED, delivery('replay-1', REPLAY.log[LAST] ?? '')] },
  ],
  ['C16', 'a delivery of an import', { deliveries: [...DELIVERED, delivery('import-1', LOG[12] ?? '')] }],
  [
    'C17',
    'an event that was never taken',
    { deliveries: [...DELIVERED.slice(0, LAST), { ...DELIVERED[LAST], status: 500 } as SeenDelivery] },
  ],
  [
    'C18',
    'an event that came before the one before it was taken',
    {
      deliveries: [
        { ...DELIVERED[0], status: 500 } as SeenDelivery,
        ...DELIVERED.slice(1),
        DELIVERED[0] as SeenDelivery,
      ],
    },
  ],
  [
    'C19',
    'a callback with a wrong signature',
    { deliveries: [...DELIVERED, { ...CALLBACK, signature: 'sha256=0' }] },
  ],
  [
    'C19',
    'a callback about nothing',
    { deliveries: [...DELIVERED, { ...CALLBACK, ...signed('{"runId":"kept-1","interruptId":"other"}') }] },
  ],
  [
    'C19',
    'an interrupt without a callback',
    withRun({ ...KEPT, status: 'waiting-approval', waitingFor: 'interrupt', log: KEPT_LOG.slice(0, 2) }),
  ],
  [
    'C20',
    'an import with another event',
    withRun({ ...IMPORT, log: [event(0, 'run.failed'), ...LOG.slice(1)] }),
  ],
  ['C20', 'an import that lost events', withRun({ ...IMPORT, log: LOG.slice(0, 5) })],
  [
    'C20',
    'a bundle that became two runs',
    { imports: VALID.imports.map((each) => ({ ...each, again: ['import-1', 'other'] })) },
  ],
  [
    'C21',
    'a removed run that is there',
    { removals: [...VALID.removals, { runId: 'recall-1', askedAt: AT, at: AT }] },
  ],
  [
    'C21',
    'a removed run that answers',
    { probes: [{ runId: 'gone-1', request: 'GET /', status: 200, text: '{}' }] },
  ],
  [
    'C21',
    'a removal of what a fork needs',
    {
      removals: [{ runId: 'kept-1', askedAt: AT + 1, at: AT + 2 }],
      runs: [RUN, CHILD, RECALL, REPLAY, IMPORT, { ...BRANCH, endedAt: new Date(AT + 60_000).toISOString() }],
    },
  ],
  ['C22', 'an erased run with another log', { erasures: [{ runId: 'run-1', log: LOG.slice(1) }] }],
  [
    'C22',
    'an erased run that shows an input',
    { probes: [{ runId: 'run-1', request: 'GET /', status: 200, text: 'private-input-client-0' }] },
  ],
  [
    'C22',
    'an erased run that can be forked',
    { probes: [{ runId: 'run-1', request: 'POST :fork', status: 201, text: '{}' }] },
  ],
  [
    'C23',
    'an input in a log',
    withRun({ ...KEPT, log: [event(0, 'run.started', { payload: { word: 'private-input-client-1' } })] }),
  ],
  ['C23', 'a secret in a delivery', { deliveries: [...DELIVERED, delivery('kept-1', event(0, SECRET))] }],
  [
    'C23',
    'another secret than the one that was set',
    { effects: [{ call: 'x', invocationId: 'x', at: AT, secret: 'wrong' }] },
  ],
  [
    'C24',
    'an artifact with other bytes',
    withRun({ ...KEPT, artifacts: [{ artifactId: 'a-1', digest: 'abc', bytes: 'abd' }] }),
  ],
  ['C24', 'an artifact that is missing', withRun({ ...KEPT, artifacts: [] })],
  ['C24', 'an artifact that the service never sent', { effects: VALID.effects.slice(1) }],
  ['C25', 'a memory that is lost', withRun({ ...RECALL, log: recalling([]) })],
  [
    'C25',
    'a memory that is there twice',
    withRun({ ...RECALL, log: recalling(['m-1', 'm-2'].map((id) => ({ id, content: 'client-1' }))) }),
  ],
  ['C26', 'an annotation that is lost', withRun({ ...KEPT, notes: [] })],
  ['C26', 'an annotation that is there twice', withRun({ ...KEPT, notes: ['well done', 'well done'] })],
  ['C27', 'a crashing run that is not quarantined', { quarantined: [] }],
  ['C27', 'an innocent run that is quarantined', { quarantined: ['crashing-1', 'run-1'] }],
  ['C7', 'a task under two ids', performed({ ...FIRST, performance: '7-2', invocationId: 'id-9' })],
  ['C28', 'a result of a performance that was overtaken', withRun({ ...SERVED, log: served('7-1') })],
  ['C28', 'a result that no worker returned', withRun({ ...SERVED, log: served('6-1') })],
  [
    'C29',
    'a performance after the outcome',
    {
      streams: [
        {
          ...{ runId: 'served-1', after: 1 },
          events: [{ sequence: 2, text: SERVED.log[2] ?? '', at: AT - 8_000 }],
        },
      ],
    },
  ],
  ['C30', 'two performances at the same time', { outages: [] }],
  ['C31', 'a repeat of what must not be repeated', performed({ ...FIRST, performance: '9-2', call: ONCE })],
  [
    'C32',
    'a turn that was asked again',
    withLog([
      ...LOG.slice(0, 3),
      ...['started', 'completed', 'started'].map((what, index) =>
        event(3 + index, `weft.step.${what}`, { nodeId: 'desk', payload: { step: 'turn-1' } }),
      ),
    ]),
  ],
  ...BROKEN_STARTED.map(([rule, what, { runs = STARTED_RUNS, started }]): (typeof BROKEN)[number] => [
    rule,
    what,
    {
      runs: [...VALID.runs.filter((run) => !STARTED_RUNS.includes(run)), ...runs],
      started: { ...STARTED, ...started },
    },
  ]),
];

describe('the checker of histories', () => {
  it('finds nothing in a valid history', () => {
    expect(checkHistory(VALID).violations).toEqual([]);
  });

  it.each(BROKEN)('reports %s for %s', (rule, _, change) => {
    const { violations } = checkHistory({ ...VALID, ...change });

    expect(violations.map((violation) => violation.rule)).toContain(rule);
  });

  it('has a broken history for every rule', () => {
    expect(new Set(BROKEN.map(([rule]) => rule))).toEqual(new Set(HISTORY_RULES.map(({ id }) => id)));
  });

  it('misses no child of a run that was cancelled before it could be made', () => {
    const log = [
      ...LOG.slice(0, 11),
      event(11, 'node.cancelled', { nodeId: 'sub' }),
      event(12, 'run.cancelled'),
    ];
    const { runs = [] } = withRun({ ...RUN, status: 'cancelled', log });
    const changed = {
      runs: runs.filter((run) => run !== CHILD),
      erasures: [],
      imports: [],
      streams: [],
      cancels: [],
    };

    expect(checkHistory({ ...VALID, ...changed }).violations).toEqual([]);
  });

  it('believes an answer that is only kept neither to be taken nor lost', () => {
    const kept = { runId: 'run-1', interruptId: 'gate:0', marker: 'eve', votes: 1, status: 202 };

    expect(checkHistory({ ...VALID, answers: [...VALID.answers, kept] }).violations).toEqual([]);
  });

  it('lets a replay diverge when a client intervened without getting an answer', () => {
    const { runs = [] } = withRun({ ...REPLAY, log: [...REPLAY.log.slice(0, 3), event(3, 'run.cancelled')] });
    const changed = {
      runs: runs.map((run) => (run.runId === REPLAY.runId ? { ...run, status: 'cancelled' } : run)),
    };

    expect(checkHistory({ ...VALID, ...changed, unanswered: [REPLAY.runId] }).violations).toEqual([]);
  });

  it('takes two outages for one where a process woke only for a moment', () => {
    const outages = [
      { pid: 7, from: AT - 8_000, to: AT - 5_700 },
      { pid: 7, from: AT - 5_600, to: AT - 5_100 },
    ];

    expect(checkHistory({ ...VALID, outages }).violations).toEqual([]);
  });

  it('counts the facts it has looked at', () => {
    expect(checkHistory(VALID).facts).toMatchObject({
      ...{ C1: 1, C2: 13, C3: 2, C4: 12, C6: 3, C8: 2, C11: 1, C14: 2, C15: 1, C16: 9, C17: 9, C18: 9 },
      ...{ C20: 1, C21: 2, C22: 3, C26: 1, C28: 1, C29: 3, C30: 3, C31: 1 },
      ...{ S1: 2, S2: 3, S3: 2, S4: 1, S5: 1, S6: 1, S7: 1, S8: 1 },
    });
  });

  it('lets later events pass one that was given up', () => {
    const [first, ...later] = DELIVERED;
    const refused = { ...first, status: 500 } as SeenDelivery;
    const deliveries = [refused, ...later, ...DELIVERED.slice(0, 1), CALLBACK];

    const { violations } = checkHistory({ ...VALID, deliveries, dead: [{ deliveryId: 'wh-1.kept-1.0' }] });

    expect(violations).toEqual([]);
  });

  it('asks nothing of a fork that lost its beginning after it had ended', () => {
    const removals = [{ runId: 'kept-1', askedAt: AT + 9_000, at: AT + 9_000 }];
    const runs = VALID.runs.filter((run) => run !== KEPT && run !== RECALL);
    const changed = { removals, probes: [], deliveries: [], annotations: [] };

    const { violations } = checkHistory({
      ...{ ...VALID, ...changed },
      runs: runs.map((run) =>
        run === BRANCH || run === REPLAY ? { ...run, log: [], endedAt: BRANCH.endedAt ?? '' } : run,
      ),
    });

    expect(violations).toEqual([]);
  });
});
