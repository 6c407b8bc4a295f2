import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MinimalHost, startMinimalHost } from '../testing/minimal-host.ts';
import type { Check } from './check.ts';
import { findHost } from './find-host.ts';
import type { CheckResult } from './outcome.ts';
import { runSuite } from './run-suite.ts';

let host: MinimalHost;
beforeAll(async () => {
  host = await startMinimalHost();
});
afterAll(() => host.stop());

async function outcomeOf(check: Omit<Check, 'id' | 'title' | 'proves'>): Promise<CheckResult> {
  const { url, key } = host;
  const { results } = await runSuite({
    url,
    key,
    discovery: await findHost(url, key),
    checks: [{ id: 'test/one', title: 'a check', proves: ['RUN-1'], ...check }],
    keys: {},
    peers: {},
    policies: {},
    launcher: undefined,
    concurrency: 2,
    requestTimeoutMs: 2_000,
  });
  const [result] = results;
  if (result === undefined) throw new Error('no result');
  return result;
}

describe('a check', () => {
  it('that asks nothing is an error of the suite', async () => {
    const { outcome, reason } = await outcomeOf({
      run: ({ expect: claims }) => Promise.resolve(claims.that(true, 'all is well')),
    });

    expect([outcome, reason]).toEqual(['broken', 'the check asked the host nothing']);
  });

  it('that expects nothing is an error of the suite', async () => {
    const { outcome, reason } = await outcomeOf({
      run: async (context) => void (await context.host.request('GET', '/.well-known/openwop')),
    });

    expect([outcome, reason]).toEqual(['broken', 'the check expected nothing']);
  });

  it('that throws is an error of the suite, not of the host', async () => {
    const { outcome } = await outcomeOf({ run: () => Promise.reject(new TypeError('x is undefined')) });

    expect(outcome).toBe('broken');
  });

  it('that does not end is ended, and says what it waited for', async () => {
    const { outcome, reason } = await outcomeOf({
      timeoutMs: 300,
      run: ({ eventually }) => eventually('the moon is made of cheese', () => Promise.resolve(undefined)),
    });

    expect(outcome).toBe('failed');
    expect(reason).toMatch(/^it was not done after 0.3 s/);
  });

  it('keeps the key out of what it shows', async () => {
    const { steps } = await outcomeOf({
      async run(context) {
        const answer = await context.host.request('GET', '/v1/runs/none');
        context.expect.status(answer, 200);
      },
    });

    expect(JSON.stringify(steps)).not.toContain(host.key);
  });

  it('that needs a fixture which the host does not list is not run', async () => {
    const { outcome, reason } = await outcomeOf({
      needs: { fixtures: ['conformance-identity'] },
      run: () => Promise.reject(new Error('must not run')),
    });

    expect(outcome).toBe('not-tested');
    expect(reason).toContain('conformance-identity');
  });
});
