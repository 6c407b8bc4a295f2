import { describe, expect, it } from 'vitest';
import { createStops } from './slider-stops.ts';
import { log } from './testing/events.ts';

describe('the stops of the slider', () => {
  it('are all events, and in a log with more than a number of them those where a node starts or ends', () => {
    const all = log(
      ['run.started'],
      ['node.started', 'draft'],
      ['provider.usage', 'draft'],
      ['variable.changed'],
      ['node.completed', 'draft'],
      ['node.skipped', 'send'],
      ['run.completed'],
    );
    const events = all.slice(0, 4);
    const stopsOf = createStops(events, 4);
    const placesOf = (length: number): number[] => {
      const { last, place } = stopsOf(length);
      return Array.from({ length: last + 1 }, (_, stop) => place(stop));
    };

    expect(placesOf(0)).toEqual([]);
    expect(placesOf(4)).toEqual([0, 1, 2, 3]);
    expect(stopsOf(4).isByNode).toBe(false);
    events.push(...all.slice(4));
    expect(placesOf(5)).toEqual([0, 1, 4]);
    expect(placesOf(7)).toEqual([0, 1, 4, 5, 6]);
    expect(stopsOf(7).isByNode).toBe(true);
    // A moment between two stops stands at the one before it.
    expect([0, 1, 3, 4, 6].map(stopsOf(7).upTo)).toEqual([0, 1, 1, 2, 4]);
  });
});
