import { openMemoryStore } from '@weft/engine';
import type { FastifyRequest } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, type Harness, openHarness } from '../testing/harness.ts';
import { createFailedAttempts } from './failed-attempts.ts';

const WRONG = 'weft_live_nobody_knows_this_one';

describe('an address that tries keys', () => {
  const store = openMemoryStore();
  const logged: [string, object][] = [];
  let lookups = 0;
  let at: Harness;
  beforeAll(async () => {
    at = await openHarness(
      { trustedProxies: ['10.0.0.0/8'] },
      (host) => ({
        ...host,
        authenticate(key) {
          lookups += 1;
          return host.authenticate(key);
        },
      }),
      (level, fields) => level === 'warn' && logged.push([level, fields]),
      { store },
    );
  });
  afterAll(() => at.close());

  const tryKey = (options: CallOptions) => at.call('GET', '/v1/host/weft/runs', { key: WRONG, ...options });
  const tryTimes = async (times: number, options: CallOptions): Promise<number[]> => {
    const statuses: number[] = [];
    for (let count = 0; count < times; count += 1) statuses.push((await tryKey(options)).status);
    return statuses;
  };

  it('gets 401 nineteen times, then 429 before its key is looked up, also a right one', async () => {
    const from = '203.0.113.1';

    const statuses = await tryTimes(20, { from });
    const before = lookups;
    const right = await at.call('GET', '/v1/host/weft/runs', { from });
    const neighbour = await at.call('GET', '/v1/host/weft/runs', { from: '203.0.113.2' });

    expect(statuses).toEqual([...Array.from({ length: 19 }, () => 401), 429]);
    expect(right).toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.stringMatching(/^([1-9]|[1-5]\d|60)$/) as unknown },
      json: { error: 'rate_limited', details: { scope: 'address', limit: 20 } },
    });
    expect(neighbour.status).toBe(200);
    expect(lookups - before).toBe(1);
    expect(logged).toEqual([['warn', { address: from }]]);
  });

  it('is one network of 64 bits, not one of its addresses (K-5)', async () => {
    await tryTimes(10, { from: '2001:db8:1:2::1' });
    await tryTimes(9, { from: '2001:db8:1:2:ffff:1:2:3' });

    expect(await tryTimes(1, { from: '2001:0db8:1:2:0:0:0:77' })).toEqual([429]);
    expect(await tryTimes(1, { from: '2001:db8:1:3::1' })).toEqual([401]);
  });

  it('is the client behind a trusted proxy, not the proxy, and not what the client says', async () => {
    const through = (client: string): CallOptions => ({
      from: '10.1.1.1',
      headers: { 'x-forwarded-for': `127.0.0.1, ${client}` },
    });

    expect((await tryTimes(20, through('198.51.100.7'))).at(-1)).toBe(429);
    expect(await tryTimes(1, through('198.51.100.8'))).toEqual([401]);
    expect(
      (await tryTimes(20, { from: '198.51.100.9', headers: { 'x-forwarded-for': '127.0.0.1' } })).at(-1),
    ).toBe(429);
  });

  it('is never refused on loopback (K-4)', async () => {
    expect(new Set(await tryTimes(50, {}))).toEqual(new Set([401]));
    expect(new Set(await tryTimes(50, { from: '::1' }))).toEqual(new Set([401]));
  });

  it('is not on loopback because a proxy on another machine says so (K-4)', async () => {
    const loopback = (from: string): CallOptions => ({ from, headers: { 'x-forwarded-for': '127.0.0.1' } });

    expect((await tryTimes(20, loopback('10.1.1.9'))).at(-1)).toBe(429);
    expect((await at.call('GET', '/v1/host/weft/runs', {})).status).toBe(200);
  });

  it('counts links that were made up as well, and not those that are merely over', async () => {
    const { runId } = await at.start('gate');
    await at.reaches(runId, 'waiting-approval');
    const { json } = await at.call('GET', `/v1/runs/${runId}`);
    const [from, body] = ['203.0.113.50', { resumeValue: { action: 'accept' } }];
    const real = `/v1/interrupts/${String(json.interrupt?.interruptToken)}`;

    await at.call('POST', real, { key: null, from, body });
    for (let count = 0; count < 25; count += 1)
      expect((await at.call('GET', real, { key: null, from })).status).toBe(409);
    for (let count = 0; count < 19; count += 1) {
      const path = count % 2 === 0 ? '/v1/interrupts/made.up' : '/v1/host/weft/interrupts/made.up';
      expect((await at.call('GET', path, { key: null, from })).status).toBe(404);
    }

    expect((await at.call('POST', '/v1/interrupts/made.up', { key: null, from, body })).status).toBe(429);
    expect((await at.call('GET', real, { key: null, from })).status).toBe(429);
  });

  it('does not count requests that bring no key at all', async () => {
    const from = '203.0.113.60';
    for (let count = 0; count < 30; count += 1)
      expect((await at.call('GET', '/v1/host/weft/runs', { key: null, from })).status).toBe(401);
  });
});

describe('failed attempts', () => {
  const request = (ip: string) =>
    ({ ip, headers: {}, socket: { remoteAddress: ip } }) as unknown as FastifyRequest;

  it('are forgotten after a minute', () => {
    const clock = { ms: 0 };
    const attempts = createFailedAttempts({ limit: 2, log: () => undefined, now: () => clock.ms });
    attempts.count(request('203.0.113.1'));
    expect(() => attempts.count(request('203.0.113.1'))).toThrow(/wait 60 s/);

    clock.ms = 59_999;
    expect(() => attempts.check(request('203.0.113.1'))).toThrow(/wait 1 s/);
    clock.ms = 60_000;

    attempts.check(request('203.0.113.1'));
    attempts.count(request('203.0.113.1'));
  });

  it('are remembered for the newest ten thousand addresses at least (K-6)', () => {
    const attempts = createFailedAttempts({ limit: 1, log: () => undefined });
    const address = (index: number) => `203.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    const fail = (index: number) => expect(() => attempts.count(request(address(index)))).toThrow();

    for (let index = 0; index < 30_000; index += 1) fail(index);

    expect(() => attempts.check(request(address(29_999)))).toThrow();
    expect(() => attempts.check(request(address(20_000)))).toThrow();
    attempts.check(request(address(0)));
  });
});
