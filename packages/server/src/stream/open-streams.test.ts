import { describe, expect, it } from 'vitest';
import { createOpenStreams } from './open-streams.ts';

describe('open streams', () => {
  it('are refused above the tenant’s limit and above the host’s', () => {
    const streams = createOpenStreams({ maxStreams: 2, maxStreamsPerTenant: 1 });
    streams.open('a');

    expect(() => streams.open('a')).toThrow(expect.objectContaining({ code: 'rate_limited', retryAfter: 5 }));
    streams.open('b');
    expect(() => streams.open('c')).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ scope: 'global', limit: 2 }) }),
    );
  });

  it('give their place back once, however often they end', () => {
    const streams = createOpenStreams({ maxStreams: 2, maxStreamsPerTenant: 1 });
    const first = streams.open('a');
    first.end();
    first.end();

    streams.open('a');

    expect(() => streams.open('a')).toThrow();
  });

  it('are all aborted when the door closes, and later ones are born aborted', () => {
    const streams = createOpenStreams({ maxStreams: 9, maxStreamsPerTenant: 9 });
    const open = [streams.open('a'), streams.wait()];

    streams.closeAll();

    expect(open.map((stream) => stream.signal.aborted)).toEqual([true, true]);
    expect(streams.wait().signal.aborted).toBe(true);
    expect(streams.closing).toBe(true);
  });
});
