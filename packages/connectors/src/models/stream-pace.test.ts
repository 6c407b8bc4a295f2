import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createStreamPace, LEAST_PER_TURN, MOST_PER_MOMENT, MOST_PER_TURN } from './stream-pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Streams that have something again as soon as they have handed over; `turns` has one entry for each moment with hand-overs. */
function speaking(count: number) {
  const pace = createStreamPace();
  const turns = new Map<number, number[]>();
  const waits: number[] = [];
  const ask = (stream: number): void => {
    const since = performance.now();
    pace.wait(() => {
      const now = performance.now();
      waits.push(now - since);
      turns.set(now, [...(turns.get(now) ?? []), stream]);
      ask(stream);
    });
  };
  for (let stream = 0; stream < count; stream += 1) {
    pace.opened();
    ask(stream);
  }
  return { turns, waits };
}

describe('the pace of streams', () => {
  it.each([
    [1, 40, 50],
    [50, 40, 80],
    [200, 40, 230],
    [1_000, 40, 250],
  ])('hands %i of them over after %i to %i ms, a few at a time', (count, least, most) => {
    const { turns, waits } = speaking(count);

    vi.advanceTimersByTime(2_000);

    expect(Math.max(...[...turns.values()].map(({ length }) => length))).toBe(
      Math.min(count, MOST_PER_MOMENT),
    );
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(least);
    expect(Math.max(...waits)).toBeLessThanOrEqual(most);
  });

  it('takes them in turn: none hands over twice before every other has once', () => {
    const { turns } = speaking(200);

    vi.advanceTimersByTime(1_000);

    const order = [...turns.values()].flat();
    for (let round = 0; round + 200 <= order.length; round += 200)
      expect(new Set(order.slice(round, round + 200)).size).toBe(200);
  });

  it('makes at most a thousand hand-overs a second of two hundred streams', () => {
    const { waits } = speaking(200);

    vi.advanceTimersByTime(2_000);

    expect(waits.length).toBeGreaterThan(1_800);
    expect(waits.length).toBeLessThanOrEqual(2_000);
  });

  /** How many of forty enter in each turn, where a turn takes so long for other reasons. */
  async function entering(busyMs: number): Promise<readonly number[]> {
    vi.useRealTimers();
    const now = vi.spyOn(performance, 'now');
    let clock = 0;
    now.mockImplementation(() => clock);
    const pace = createStreamPace();
    const entered: number[] = [];
    const turns: number[] = [];
    // Asked for first, so that it comes before the next ones of every turn.
    setImmediate(function tick() {
      clock += busyMs;
      turns.push(entered.length - turns.reduce((sum, length) => sum + length, 0));
      if (entered.length < 40) setImmediate(tick);
    });
    await Promise.all(
      Array.from({ length: 40 }, async (_, stream) => {
        await pace.turn();
        entered.push(stream);
      }),
    );
    await new Promise(setImmediate);
    now.mockRestore();
    expect(entered).toEqual([...entered].sort((one, other) => one - other));
    return turns;
  }

  it('lets a few of them into each turn of the event loop, in the order of asking', async () => {
    expect(await entering(2)).toEqual(Array.from({ length: 8 }, () => LEAST_PER_TURN));
  });

  it('lets more of them into each turn where turns are long, within a bound', async () => {
    expect(await entering(24)).toEqual([LEAST_PER_TURN, 12, 12, 11]);
    expect(await entering(500)).toEqual([LEAST_PER_TURN, MOST_PER_TURN, 15]);
  });

  it('passes over a stream that no longer waits', () => {
    const pace = createStreamPace();
    const handOver = vi.fn();
    pace.opened();
    pace.wait(handOver)();

    vi.runAllTimers();

    expect(handOver).not.toHaveBeenCalled();
  });
});
