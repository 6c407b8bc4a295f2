import { describe, expect, it } from 'vitest';
import { StopSource } from '../effects/stop-source.ts';
import { until } from '../testing/test-host.ts';
import { createLookUps, type LookUpOptions, type LookUps } from './look-ups.ts';
import type { Addresses } from './policy.ts';

const FOUND: Addresses = [{ address: '93.184.216.34', family: 4 }];

/** A resolver that answers when the test says so, and never for names that begin with "dead". */
function setUp(options: Partial<LookUpOptions> = {}): {
  lookUps: LookUps;
  asked: string[];
  cancelled: string[];
  answer: (host: string) => void;
} {
  const asked: string[] = [];
  const cancelled: string[] = [];
  const waiting = new Map<string, (addresses: Addresses) => void>();
  return {
    asked,
    cancelled,
    answer: (host) => waiting.get(host)?.(FOUND),
    lookUps: createLookUps({
      inAll: 8,
      perTenant: 4,
      timeoutMs: 60_000,
      resolve: (host, signal) =>
        new Promise((resolve) => {
          asked.push(host);
          waiting.set(host, resolve);
          signal.addEventListener('abort', () => cancelled.push(host));
        }),
      ...options,
    }),
  };
}

const find = ({ lookUps }: { lookUps: LookUps }, host: string, tenant: string, signal = new StopSource()) =>
  lookUps.find(host, tenant, signal);

describe('look-ups of names', () => {
  it('of one tenant take their places and no more, and another tenant finds one at once (Q-7)', async () => {
    const test = setUp();
    for (let count = 0; count < 60; count += 1) void find(test, `dead${count}.test`, 'greedy');
    expect(test.asked).toEqual(['dead0.test', 'dead1.test', 'dead2.test', 'dead3.test']);

    const modest = find(test, 'alive.test', 'modest');
    test.answer('alive.test');

    expect(await modest).toBe(FOUND);
    expect(test.asked[4]).toBe('alive.test');
    expect(test.asked).toHaveLength(5);
  });

  it('of a tenant that comes late take the next place that is free, when all are taken', async () => {
    const test = setUp({ inAll: 4 });
    for (let count = 0; count < 60; count += 1) void find(test, `slow${count}.test`, 'greedy');
    const modest = find(test, 'alive.test', 'modest');

    test.answer('slow0.test');
    await until(() => test.asked.length === 5);
    test.answer('slow1.test');
    await until(() => test.asked.length === 6);
    test.answer('alive.test');
    await modest;

    expect(test.asked.slice(4)).toContain('alive.test');
  });

  it('give up after their time, and the next ones begin (Q-8)', async () => {
    const test = setUp({ timeoutMs: 5, perTenant: 1 });

    const [first, second] = [find(test, 'dead0.test', 't'), find(test, 'dead1.test', 't')];

    await expect(first).rejects.toMatchObject({ code: 'resolve_timeout' });
    await expect(second).rejects.toMatchObject({ code: 'resolve_timeout' });
    expect(test.cancelled).toEqual(['dead0.test', 'dead1.test']);
  });

  it('of the same name and tenant are one (Q-9)', async () => {
    const test = setUp();
    const answers = [find(test, 'a.test', 't'), find(test, 'a.test', 't'), find(test, 'a.test', 'other')];

    test.answer('a.test');
    await answers[2];

    expect(test.asked).toEqual(['a.test', 'a.test']);
  });

  it('are not remembered (Q-9)', async () => {
    const test = setUp();
    const first = find(test, 'a.test', 't');
    test.answer('a.test');
    await first;

    const second = find(test, 'a.test', 't');
    test.answer('a.test');
    await second;

    expect(test.asked).toEqual(['a.test', 'a.test']);
  });

  it('without a waiter are cancelled, and not before (Q-8)', async () => {
    const test = setUp({ perTenant: 1 });
    const [one, other, queued] = [new StopSource(), new StopSource(), new StopSource()];
    const left = [
      find(test, 'dead.test', 't', one),
      find(test, 'dead.test', 't', other),
      find(test, 'queued.test', 't', queued),
    ];
    for (const each of left) each.catch(() => undefined);

    one.stop();
    await expect(left[0]).rejects.toThrow('aborted');
    expect(test.cancelled).toEqual([]);
    queued.stop();
    other.stop();

    await Promise.allSettled(left);
    expect(test.cancelled).toContain('dead.test');
    expect(test.asked).toEqual(['dead.test']);
    await expect(find(test, 'late.test', 't', one)).rejects.toThrow('aborted');
  });
});
