import { describe, expect, it } from 'vitest';
import { curlOf, matchingEvents } from './event-filter.ts';
import { log } from './testing/events.ts';

const events = log(
  ['run.started'],
  ['node.started', 'work', { iteration: [1] }],
  ['node.failed', 'Work2'],
  ['run.failed'],
);

describe('the events of a log', () => {
  it('are found by parts of their type and node, up to a moment', () => {
    expect(matchingEvents(events, { type: 'FAILED', node: '' }, 9)).toEqual([2, 3]);
    expect(matchingEvents(events, { type: '', node: 'work' }, 9)).toEqual([1, 2]);
    expect(matchingEvents(events, { type: '', node: 'work[1]' }, 9)).toEqual([1]);
    expect(matchingEvents(events, { type: '', node: '' }, 1)).toEqual([0, 1]);
  });

  it('can be asked for in a shell, without a key in the command', () => {
    expect(curlOf('http://h', { runId: 'a b', sequence: 3 })).toBe(
      `curl -H "Authorization: Bearer $WEFT_API_KEY" 'http://h/v1/runs/a%20b/events/poll?lastSequence=2&limit=1&timeout=1'`,
    );
  });
});
