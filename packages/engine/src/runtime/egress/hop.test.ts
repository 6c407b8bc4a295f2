import { describe, expect, it } from 'vitest';
import type { EgressRequest } from '../../model/node-type.ts';
import { firstHop, isRedirect, nextHop } from './hop.ts';

function request(changes: Partial<EgressRequest>): EgressRequest {
  return {
    url: 'https://api.example/start',
    method: 'POST',
    headers: {},
    signal: new AbortController().signal,
    maxResponseBytes: 1000,
    followRedirects: true,
    ...changes,
  };
}

const redirect = (status: number, location: string) => ({ status, headers: { location } });

describe('the first hop', () => {
  it('introduces itself and asks for an answer that is not compressed', () => {
    expect(firstHop(request({})).headers).toEqual({
      'user-agent': 'weft/0.1.0',
      'accept-encoding': 'identity',
    });
  });

  it('lets the caller choose another user agent', () => {
    expect(firstHop(request({ headers: { 'User-Agent': 'mine' } })).headers['user-agent']).toBe('mine');
  });

  it('turns userinfo into an Authorization header and takes it out of the URL', () => {
    const hop = firstHop(request({ url: 'https://me:p%40ss@api.example/a?b=1#c' }));

    expect(hop.destination.url.href).toBe('https://api.example/a?b=1');
    expect(hop.headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
  });

  it.each(['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Accept-Encoding', 'Upgrade'])(
    'refuses the header %s, which belongs to the host',
    (name) => {
      expect(() => firstHop(request({ headers: { [name]: 'x' } }))).toThrow('is set by the host');
    },
  );

  it.each([
    ['X-Ok', 'secret\r\nX-Injected: 1'],
    ['Bad Name', 'secret'],
    ['', 'secret'],
  ])('refuses header %j with a forbidden character, without repeating its value', (name, value) => {
    const sending = () => firstHop(request({ headers: { [name]: value } }));

    expect(sending).toThrow('characters that HTTP does not allow');
    expect(sending).not.toThrow('secret');
  });
});

describe('a redirect', () => {
  it('is a 301, 302, 303, 307 or 308 with a Location', () => {
    expect([301, 302, 303, 307, 308].every((status) => isRedirect(redirect(status, '/')))).toBe(true);
    expect(isRedirect({ status: 302, headers: {} })).toBe(false);
    expect(isRedirect(redirect(304, '/'))).toBe(false);
    expect(isRedirect(redirect(200, '/'))).toBe(false);
  });

  it.each([301, 302, 303])('%i turns a POST into a GET without body and content headers', (status) => {
    const hop = firstHop(
      request({ body: '{}', headers: { 'Content-Type': 'application/json', accept: '*/*' } }),
    );

    const next = nextHop(hop, redirect(status, '/next'));

    expect(next.method).toBe('GET');
    expect(next.body).toBeUndefined();
    expect(next.headers).not.toHaveProperty('content-type');
    expect(next.headers).toHaveProperty('accept');
    expect(next.destination.url.href).toBe('https://api.example/next');
  });

  it.each([307, 308])('%i keeps method and body', (status) => {
    const hop = firstHop(request({ body: '{}' }));

    expect(nextHop(hop, redirect(status, '/next'))).toMatchObject({ method: 'POST', body: '{}' });
  });

  it('keeps a HEAD a HEAD', () => {
    expect(nextHop(firstHop(request({ method: 'HEAD' })), redirect(303, '/next')).method).toBe('HEAD');
  });

  it('keeps credentials inside the origin', () => {
    const hop = firstHop(request({ headers: { Authorization: 'Bearer x', Cookie: 'a=b' } }));

    const { headers } = nextHop(hop, redirect(307, '/next'));

    expect(headers).toMatchObject({ authorization: 'Bearer x', cookie: 'a=b' });
  });

  it.each(['https://other.example/', 'http://api.example/', 'https://api.example:444/'])(
    'drops credentials on the way to %s and keeps the idempotency key',
    (location) => {
      const hop = firstHop(
        request({ headers: { Authorization: 'x', Cookie: 'x', 'X-Api-Key': 'x', 'Idempotency-Key': 'id' } }),
      );

      const { headers } = nextHop(hop, redirect(307, location));

      expect(Object.keys(headers).toSorted()).toEqual(['accept-encoding', 'idempotency-key', 'user-agent']);
    },
  );

  it.each(['file:///etc/passwd', 'http://', 'javascript:1'])('cannot lead to %s', (location) => {
    expect(() => nextHop(firstHop(request({})), redirect(302, location))).toThrow('cannot be followed');
  });
});
