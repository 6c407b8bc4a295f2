import { describe, expect, it } from 'vitest';
import { createMatching, curlOf } from './event-filter.ts';
import { log } from './testing/events.ts';

const events = log(
  ['run.started'],
  ['node.started', 'work', { iteration: [1] }],
  ['node.failed', 'Work2'],
  ['run.failed'],
);

function found(filter: Parameters<typeof createMatching>[0], upTo: number): number[] {
  const matching = createMatching(filter);
  // Read in pieces, as a log grows.
  matching.count(events.slice(0, 2), upTo);
  return Array.from({ length: matching.count(events, upTo) }, (_, index) => matching.place(index));
}

describe('the events of a log', () => {
  it('are found by parts of their type and node, up to a moment', () => {
    expect(found({ type: 'FAILED', node: '' }, 9)).toEqual([2, 3]);
    expect(found({ type: 'failed', node: '' }, 2)).toEqual([2]);
    expect(found({ type: '', node: 'work' }, 9)).toEqual([1, 2]);
    expect(found({ type: '', node: 'work[1]' }, 9)).toEqual([1]);
    expect(found({ type: '', node: '' }, 1)).toEqual([0, 1]);
  });

  it('can be asked for in a shell, without a key in the command', () => {
    expect(curlOf('http://h', { runId: 'a b', sequence: 3 })).toBe(
      `curl -H "Authorization: Bearer $WEFT_API_KEY" 'http://h/v1/runs/a%20b/events/poll?lastSequence=2&limit=1&timeout=1'`,
    );
  });
});
