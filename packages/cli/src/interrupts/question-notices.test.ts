import type { RunEventDocument } from '@weft/sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SETTLE_MS, createQuestionNotices } from './question-notices.ts';

let shown: string[];
let notices: ReturnType<typeof createQuestionNotices>;

beforeEach(() => {
  vi.useFakeTimers();
  shown = [];
  notices = createQuestionNotices(({ runId, nodeId, iteration = [] }) =>
    shown.push(`${runId} ${nodeId} ${iteration.join()}`.trim()),
  );
});

afterEach(() => {
  notices.close();
  vi.useRealTimers();
});

function event(type: string, nodeId: string, payload: Record<string, number[]> = {}): RunEventDocument {
  return {
    eventId: 'e',
    runId: 'r1',
    type,
    nodeId,
    payload: { kind: 'approval', data: {}, ...payload },
    timestamp: '2026-01-01T00:00:00Z',
    sequence: 0,
  };
}

describe('notices of questions', () => {
  it('tell each open question once', () => {
    notices.see(event('interrupt.requested', 'gate'));
    notices.see(event('interrupt.requested', 'gate', { iteration: [2] }));
    vi.advanceTimersByTime(SETTLE_MS);
    notices.see(event('node.started', 'other'));
    vi.advanceTimersByTime(10 * SETTLE_MS);

    expect(shown).toEqual(['r1 gate', 'r1 gate 2']);
  });

  it('leave out what the log answers a moment later', () => {
    notices.see(event('interrupt.requested', 'answered'));
    notices.see(event('interrupt.requested', 'withdrawn'));
    notices.see(event('interrupt.requested', 'open'));
    notices.see(event('interrupt.resolved', 'answered'));
    notices.see(event('node.cancelled', 'withdrawn'));
    vi.advanceTimersByTime(SETTLE_MS);

    expect(shown).toEqual(['r1 open']);
  });

  it('are not held back by a run in which other nodes proceed', () => {
    notices.see(event('interrupt.requested', 'gate'));
    for (let index = 0; index < 4; index += 1) {
      vi.advanceTimersByTime(SETTLE_MS / 4);
      notices.see(event('node.completed', 'other'));
    }

    expect(shown).toEqual(['r1 gate']);
  });

  it('tell again when the same node asks again', () => {
    notices.see(event('interrupt.requested', 'gate'));
    vi.advanceTimersByTime(SETTLE_MS);
    notices.see(event('interrupt.resolved', 'gate'));
    notices.see(event('interrupt.requested', 'gate'));
    vi.advanceTimersByTime(SETTLE_MS);

    expect(shown).toEqual(['r1 gate', 'r1 gate']);
  });

  it('say nothing after the end', () => {
    notices.see(event('interrupt.requested', 'gate'));
    notices.close();
    vi.advanceTimersByTime(SETTLE_MS);

    expect(shown).toEqual([]);
  });
});
