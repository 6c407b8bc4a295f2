import { describe, expect, it } from 'vitest';
import { createOpenStreams, type StreamLimits } from './open-streams.ts';

const LIMITS: StreamLimits = {
  maxStreams: 2,
  maxStreamsPerTenant: 1,
  maxPollsPerTenant: 1,
  maxDownloadsPerTenant: 1,
};

describe('open streams', () => {
  it('are refused above the tenant’s limit and above the host’s', () => {
    const streams = createOpenStreams(LIMITS);
    streams.open('a', 'stream');

    expect(() => streams.open('a', 'stream')).toThrow(
      expect.objectContaining({ code: 'rate_limited', retryAfter: 5 }),
    );
    streams.open('b', 'stream');
    expect(() => streams.open('c', 'stream')).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ scope: 'global', limit: 2 }) }),
    );
  });

  it('are counted by kind, and those of one tenant leave others their own', () => {
    const streams = createOpenStreams(LIMITS);
    for (const kind of ['stream', 'poll', 'download'] as const) streams.open('greedy', kind);

    expect(() => streams.open('greedy', 'poll')).toThrow(/already 1 long polls for this tenant/);
    expect(() => streams.open('greedy', 'download')).toThrow(/already 1 downloads in progress/);
    for (const kind of ['stream', 'poll', 'download'] as const) streams.open('modest', kind);
  });

  it('give their place back once, however often they end', () => {
    const streams = createOpenStreams(LIMITS);
    const first = streams.open('a', 'stream');
    first.end();
    first.end();

    streams.open('a', 'stream');

    expect(() => streams.open('a', 'stream')).toThrow();
  });

  it('are all aborted when the server closes, and later ones are born aborted', () => {
    const streams = createOpenStreams(LIMITS);
    const open = [streams.open('a', 'stream'), streams.open('a', 'poll')];

    streams.closeAll();

    expect(open.map((stream) => stream.signal.aborted)).toEqual([true, true]);
    expect(streams.open('b', 'poll').signal.aborted).toBe(true);
    expect(streams.closing).toBe(true);
  });
});
