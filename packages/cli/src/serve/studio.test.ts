import type { Caller } from '@weft/engine';
import { describe, expect, it } from 'vitest';
import { studioLink } from './studio.ts';

const AT = { studio: 'not-built', bind: '127.0.0.1', url: 'http://127.0.0.1:7878' } as const;
const SERVED = { ...AT, studio: new Map() };
const CALLER: Caller = {
  tenant: 'default',
  principal: 'alice',
  keyId: 'key-1',
  kind: 'service',
  test: false,
  scopes: new Set(),
};

function hostWhose(createCode: Parameters<typeof studioLink>[0]['sessions']['createCode']) {
  return { authenticate: async () => ({ state: 'ok', caller: CALLER }) as const, sessions: { createCode } };
}

describe('the link to the page', () => {
  it('signs in the first browser on loopback', async () => {
    const host = hostWhose(async () => ({ code: 'abc', expiresAt: 0 }));

    expect(await studioLink(host, 'key', SERVED)).toBe('http://127.0.0.1:7878/studio/#code=abc');
    expect(await studioLink(host, 'key', { ...SERVED, bind: '0.0.0.0' })).toBe(
      'http://127.0.0.1:7878/studio/',
    );
    expect(await studioLink(host, 'key', AT)).toBeUndefined();
  });

  it('is without a code where the store takes none just now: a host that listens does not end over it', async () => {
    const host = hostWhose(() => Promise.reject(new Error('the store is away')));

    expect(await studioLink(host, 'key', SERVED)).toBe('http://127.0.0.1:7878/studio/');
  });
});
