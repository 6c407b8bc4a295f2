import { describe, expect, it } from 'vitest';
import { forkPoints, likelyPoint } from './fork-points.ts';
import { log } from './testing/events.ts';

const events = log(
  ['run.started'],
  ['node.started', 'check'],
  ['node.completed', 'check'],
  ['node.started', 'gate'],
  ['node.suspended', 'gate', { interruptId: 'gate:0' }],
  ['approval.received', 'gate', { interruptId: 'gate:0' }],
  ['interrupt.resolved', 'gate', { interruptId: 'gate:0' }],
);

describe('the places to fork from', () => {
  it('are where nodes begin, and before each answer', () => {
    expect(forkPoints(events)).toEqual([
      { fromSeq: 1, text: 'node check begins' },
      { fromSeq: 3, text: 'node gate begins' },
      { fromSeq: 5, text: 'before the answer at gate' },
    ]);
  });

  it('begin with the one that is most likely meant', () => {
    const points = forkPoints(events);

    expect(likelyPoint(points, 3)).toBe(3);
    expect(likelyPoint(points, undefined)).toBe(5);
    expect(likelyPoint(points.slice(0, 2), undefined)).toBe(1);
    expect(likelyPoint([], undefined)).toBe(0);
  });
});
