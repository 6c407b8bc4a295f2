import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClient } from '../client.ts';
import type { ClientOptions, Fetch } from './transport.ts';

beforeEach(() => {
  vi.stubEnv('WEFT_URL', undefined);
  vi.stubEnv('WEFT_API_KEY', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** Where a client sends to, and with which key. */
async function sentBy(options: ClientOptions = {}): Promise<[string, string | null]> {
  let sent: [string, string | null] | undefined;
  const fetch: Fetch = async (input, init) => {
    sent = [new URL(String(input)).origin, new Headers(init?.headers).get('authorization')];
    return Response.json({});
  };
  await createClient({ fetch, ...options }).discovery();
  return sent ?? ['', null];
}

describe('a client without options', () => {
  it('takes host and key from the environment', async () => {
    vi.stubEnv('WEFT_URL', 'http://there.test');
    vi.stubEnv('WEFT_API_KEY', 'k');

    expect(await sentBy()).toEqual(['http://there.test', 'Bearer k']);
    expect(await sentBy({ baseUrl: 'http://here.test', apiKey: 'other' })).toEqual([
      'http://here.test',
      'Bearer other',
    ]);
    expect(await sentBy({ apiKey: null })).toEqual(['http://there.test', null]);
  });

  it('says what is missing when no host is known, also where there is no process', () => {
    vi.stubEnv('WEFT_URL', '');
    expect(() => createClient()).toThrow(/baseUrl.*WEFT_URL/);

    vi.stubGlobal('process', undefined);
    expect(() => createClient()).toThrow(/baseUrl.*WEFT_URL/);
  });

  it('needs no process when it has a URL', async () => {
    vi.stubGlobal('process', undefined);

    expect(await sentBy({ baseUrl: 'http://here.test' })).toEqual(['http://here.test', null]);
  });
});
