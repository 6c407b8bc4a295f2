import { describe, expect, it } from 'vitest';
import { event, log, timeOf } from './testing/events.ts';
import { begunBy, createTimeline, rowAt, scaleMarks, spanOf } from './timeline.ts';

const events = log(
  ['run.started'],
  ['node.started', 'call', { attempt: 0 }],
  ['node.retried', 'call', { attempt: 1 }],
  ['node.started', 'call', { attempt: 1 }],
  ['node.completed', 'call'],
  ['node.started', 'gate'],
  ['node.suspended', 'gate', { kind: 'approval' }],
);

/** Of a node that is no longer the newest. */
const lateStep = [event(7, 'weft.step.started', 'call', { step: 'turn-1', attempt: 0 })];

const timelineOf = (given: typeof events) => createTimeline().read(given);
const timelineAt = (given: typeof events, sequence: number) =>
  begunBy(timelineOf(given), sequence).map((row) => rowAt(row, sequence));

describe('the waterfall', () => {
  it('has a bar for every attempt, delay and wait', () => {
    const [call, gate] = timelineOf(events);

    expect(call?.bars.map(({ kind, outcome }) => [kind, outcome])).toEqual([
      ['attempt', 'retried'],
      ['delay', 'resumed'],
      ['attempt', 'completed'],
    ]);
    expect(call?.bars[2]).toMatchObject({ start: timeOf(3), end: timeOf(4), attempt: 1 });
    expect(gate?.bars.at(-1)).toEqual({ kind: 'wait', start: timeOf(6), startSeq: 6, attempt: 0 });
  });

  it('has a row for every turn of a model and every call of a tool, below its node', () => {
    const tool = { toolName: 'shop/orders', callId: 'draft:turn-1.call-0' };
    const usage = { model: 'mock-1', usage: { totalTokens: 1_200 } };
    const agent = log(
      ['node.started', 'draft', { attempt: 0 }],
      ['weft.step.started', 'draft', { step: 'turn-1', round: 0, attempt: 0 }],
      ['weft.step.completed', 'draft', { step: 'turn-1', result: usage }],
      ['agent.toolCalled', 'draft', tool],
      ['weft.step.started', 'draft', { step: 'turn-1.call-0', round: 1, attempt: 0 }],
      ['weft.step.retried', 'draft', { step: 'turn-1.call-0', attempt: 1 }],
      ['weft.step.started', 'draft', { step: 'turn-1.call-0', round: 1, attempt: 1 }],
      ['node.started', 'other', { attempt: 0 }],
      ['agent.toolReturned', 'draft', { ...tool, status: 'error' }],
      ['weft.step.started', 'draft', { step: 'turn-2', round: 2, attempt: 0 }],
      ['node.failed', 'draft'],
    );

    expect(
      timelineOf(agent).map(({ kind, label, detail, bars }) => [
        kind,
        label,
        detail,
        bars.map(({ outcome }) => outcome ?? 'open').join(' '),
      ]),
    ).toEqual([
      ['node', 'draft', undefined, 'failed'],
      ['turn', 'model turn 1', 'mock-1, 1,200 tokens', 'completed'],
      ['tool', 'shop/orders', undefined, 'retried resumed failed'],
      ['turn', 'model turn 2', undefined, 'failed'],
      ['node', 'other', undefined, 'open'],
    ]);
    expect(timelineAt(agent, 1)[1]).not.toHaveProperty('detail');
  });

  it('read in pieces is what it is read at once', () => {
    const log = [...events, ...lateStep];
    const timeline = createTimeline();
    const growing: typeof events = [];
    for (const event of log) {
      growing.push(event);
      timeline.read(growing);
    }

    expect(timeline.read(growing)).toEqual(timelineOf(log));
    expect(timeline.read(growing).map(({ key }) => key)).toEqual(['call', 'call:turn-1', 'gate']);
  });

  it('of an earlier moment has nothing of what came later', () => {
    const then = timelineAt(events, 3);

    expect(then).toHaveLength(1);
    expect(then[0]?.bars.at(-1)).toEqual({ kind: 'attempt', start: timeOf(3), startSeq: 3, attempt: 1 });
  });

  it('reaches to the last moment that is shown', () => {
    expect(spanOf(timelineOf(events), timeOf(50))).toEqual({ start: timeOf(1), end: timeOf(50) });
    expect(spanOf([], 5)).toEqual({ start: 5, end: 6 });
  });

  it('has a scale of round steps', () => {
    expect(scaleMarks(950, 5)).toEqual([0, 200, 400, 600, 800]);
    expect(scaleMarks(200_000, 5)).toEqual([0, 60_000, 120_000, 180_000]);
    expect(scaleMarks(30 * 86_400_000, 5).length).toBeLessThanOrEqual(6);
  });
});
