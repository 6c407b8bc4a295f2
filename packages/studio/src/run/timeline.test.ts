import { describe, expect, it } from 'vitest';
import { log, timeOf } from './testing/events.ts';
import { scaleMarks, spanOf, timelineAt, timelineOf } from './timeline.ts';

const events = log(
  ['run.started'],
  ['node.started', 'call', { attempt: 0 }],
  ['node.retried', 'call', { attempt: 0 }],
  ['node.started', 'call', { attempt: 1 }],
  ['node.completed', 'call'],
  ['node.started', 'gate'],
  ['node.suspended', 'gate', { kind: 'approval' }],
);

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

  it('of an earlier moment has nothing of what came later', () => {
    const then = timelineAt(timelineOf(events), 3);

    expect(then).toHaveLength(1);
    expect(then[0]?.bars.at(-1)).toEqual({ kind: 'attempt', start: timeOf(3), startSeq: 3, attempt: 1 });
  });

  it('reaches to now while something lasts', () => {
    expect(spanOf(timelineOf(events), timeOf(50))).toEqual({ start: timeOf(1), end: timeOf(50) });
    expect(spanOf([], 5)).toEqual({ start: 5, end: 6 });
  });

  it('has a scale of round steps', () => {
    expect(scaleMarks(950, 5)).toEqual([0, 200, 400, 600, 800]);
    expect(scaleMarks(200_000, 5)).toEqual([0, 60_000, 120_000, 180_000]);
    expect(scaleMarks(30 * 86_400_000, 5).length).toBeLessThanOrEqual(6);
  });
});
