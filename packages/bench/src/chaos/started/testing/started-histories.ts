import type { FinalRun } from '../../checking/history.ts';
import type { SeenFiring, SeenSchedule, SentDelivery, StartedHistory } from '../started-history.ts';
import type { STARTED_RULES } from '../started-rules.ts';

/** A schedule of three due times, of which the second one is skipped, and three deliveries; and histories in which that is broken. */

const START = Date.parse('2026-01-01T00:00:00.000Z');
const at = (second: number): string => new Date(START + second * 1_000).toISOString();

function run(runId: string, second: number, source: NonNullable<FinalRun['source']>): FinalRun {
  const said = (sequence: number, type: string) =>
    JSON.stringify({ sequence, type, timestamp: at(second + sequence), payload: {} });
  return {
    ...{ runId, workflowId: 'held', tags: [], status: 'completed', source },
    endedAt: at(second + 1),
    log: [said(0, 'run.started'), said(1, 'run.completed')],
  };
}

const due = (runId: string, second: number): FinalRun =>
  run(runId, second, { kind: 'schedule', id: 'poll', dueAt: at(second) });
const FIRST = due('due-0', 0);
const LAST = due('due-2', 2);
const BY_HAND = run('by-hand', 1, { kind: 'schedule', id: 'poll' });
const DELIVERED = run('delivered', 1, { kind: 'trigger', id: 'tr-1' });

export const STARTED_RUNS: readonly FinalRun[] = [FIRST, LAST, BY_HAND, DELIVERED];

const SKIPPED: SeenFiring = {
  ...{ dueAt: START + 1_000, at: START + 1_000, outcome: 'skipped', reason: 'overlap' },
};

const SCHEDULE: SeenSchedule = {
  ...{ name: 'poll', overlap: 'skip', everyMs: 1_000, holdMs: 0, catchUpMs: 60_000, jitterMs: 0 },
  ...{ start: START, end: START + 2_000, firings: [SKIPPED] },
  last: { state: 'ended', openRuns: 0, queued: 0, started: 3, skipped: 1, deadLettered: 0 },
};

const SENT: SentDelivery = {
  ...{ trigger: 'tr-1', id: 'd-1', isUnfit: false, sent: 2, runIds: ['delivered'], letters: [] },
  ...{ started: 1, duplicates: 1 },
};
const UNFIT: SentDelivery = { ...SENT, id: 'd-2', isUnfit: true, runIds: [], letters: ['letter-1'] };

export const STARTED: StartedHistory = {
  schedules: [SCHEDULE],
  holds: [
    { schedule: 'poll', token: 'a', phase: 'begin', at: START },
    { schedule: 'poll', token: 'a', phase: 'finish', at: START + 900 },
    { schedule: 'poll', token: 'b', phase: 'begin', at: START + 2_000 },
    { schedule: 'poll', token: 'b', phase: 'finish', at: START + 2_900 },
  ],
  manual: [{ schedule: 'poll', key: 'k', runIds: ['by-hand', 'by-hand'] }],
  triggers: ['tr-1'],
  deliveries: [SENT, UNFIT],
  forged: [{ trigger: 'tr-1', status: 401 }],
  letters: ['letter-1'],
};

type RuleId = (typeof STARTED_RULES)[number]['id'];

interface Change {
  readonly runs?: readonly FinalRun[];
  readonly started?: Partial<StartedHistory>;
}

const schedule = (change: Partial<SeenSchedule>): Change => ({
  started: { schedules: [{ ...SCHEDULE, ...change }] },
});
const skipped = (change: Partial<SeenFiring>): Change => schedule({ firings: [{ ...SKIPPED, ...change }] });
const sent = (change: Partial<SentDelivery>): Change => ({
  started: { deliveries: [{ ...SENT, ...change }, UNFIT] },
});
const without = (gone: FinalRun): Change => ({ runs: STARTED_RUNS.filter((each) => each !== gone) });
const withRun = (more: FinalRun): Change => ({ runs: [...STARTED_RUNS, more] });

export const BROKEN_STARTED: readonly [RuleId, string, Change][] = [
  ['S1', 'two runs of one due time', withRun({ ...FIRST, runId: 'due-0-again' })],
  ['S1', 'a run at a time that is not due', withRun(due('due-9', 9))],
  [
    'S1',
    'a run before it is due',
    { runs: [...STARTED_RUNS.filter((each) => each !== LAST), { ...LAST, log: due('due-2', -30).log }] },
  ],
  ['S2', 'a due time that nothing became of', without(LAST)],
  [
    'S2',
    'a skip that was not recorded and the schedule has not counted',
    schedule({ firings: [], last: { ...SCHEDULE.last, skipped: 0 } }),
  ],
  ['S2', 'a due time that was started and skipped', withRun(due('due-1', 1))],
  ['S2', 'a reason of another policy', skipped({ reason: 'queue_full' })],
  ['S2', 'a skip while no run was open', skipped({ at: START + 60_000 })],
  ['S2', 'a skip within the catch-up window', skipped({ reason: 'outside_catch_up_window' })],
  [
    'S3',
    'runs that overlap',
    {
      started: {
        holds: [...STARTED.holds, { schedule: 'poll', token: 'a', phase: 'finish', at: START + 2_500 }],
      },
    },
  ],
  ['S4', 'a schedule that never ends', schedule({ last: { ...SCHEDULE.last, state: 'active' } })],
  ['S4', 'a schedule that miscounts', schedule({ last: { ...SCHEDULE.last, started: 2 } })],
  ['S4', 'a dead letter', schedule({ last: { ...SCHEDULE.last, deadLettered: 1 } })],
  [
    'S5',
    'two runs of one key',
    { started: { manual: [{ schedule: 'poll', key: 'k', runIds: ['by-hand', 'other'] }] } },
  ],
  ['S5', 'a start by hand that was never acknowledged', { started: { manual: [] } }],
  ['S6', 'two runs of one delivery', sent({ runIds: ['delivered', 'again'] })],
  ['S6', 'a delivery that was started twice', sent({ started: 2 })],
  ['S6', 'a delivery without a run', without(DELIVERED)],
  ['S6', 'a run without a delivery', withRun({ ...DELIVERED, runId: 'unasked' })],
  ['S7', 'a dead letter that is lost', { started: { letters: [] } }],
  ['S7', 'two dead letters of one delivery', { started: { letters: ['letter-1', 'letter-2'] } }],
  ['S8', 'a forged delivery that was taken', { started: { forged: [{ trigger: 'tr-1', status: 202 }] } }],
];
