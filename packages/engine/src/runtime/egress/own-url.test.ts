import { describe, expect, it } from 'vitest';
import { EgressError } from './egress-error.ts';
import { resolveOwnUrl } from './own-url.ts';

describe('weft://self', () => {
  it.each([
    ['weft://self/health', 'http://127.0.0.1:9001/health'],
    ['weft://self', 'http://127.0.0.1:9001'],
    ['weft://self?a=1', 'http://127.0.0.1:9001?a=1'],
    ['https://self/health', 'https://self/health'],
    ['weft://selfish/health', 'weft://selfish/health'],
    ['weft://self:80/health', 'weft://self:80/health'],
    ['weft://self@evil.example/', 'weft://self@evil.example/'],
  ])('makes %s to %s', (url, resolved) => {
    expect(resolveOwnUrl(url, 'http://127.0.0.1:9001')).toBe(resolved);
  });

  it('of a host that does not listen is a network problem, which may pass', () => {
    expect(() => resolveOwnUrl('weft://self/health', undefined)).toThrow(EgressError);
    expect(resolveOwnUrl('https://a.example/', undefined)).toBe('https://a.example/');
  });
});
