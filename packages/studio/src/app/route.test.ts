import { describe, expect, it } from 'vitest';
import { hashOf, hostAddressOf, parseRoute, signInCodeOf } from './route.ts';

describe('a place in the page', () => {
  it('is written and read back, whatever its names hold', () => {
    const path = ['runs', 'a/b c?#'];
    const query = { tab: 'log', q: 'x&y=1' };

    expect(parseRoute(hashOf(path, query))).toEqual({ path, query });
  });

  it('has no parameters without a value', () => {
    expect(hashOf(['runs'], { status: '', tag: undefined })).toBe('#/runs');
  });

  it('is read even when its escapes are broken', () => {
    expect(parseRoute('#/runs/%E0%A4%A').path).toEqual(['runs', '%E0%A4%A']);
    expect(parseRoute('')).toEqual({ path: [], query: {} });
  });
});

describe('a sign-in code', () => {
  it('is the whole fragment or none', () => {
    expect(signInCodeOf('#code=abc-1_2')).toBe('abc-1_2');
    expect(signInCodeOf('#/runs?code=abc')).toBeUndefined();
    expect(signInCodeOf('#code=<script>')).toBeUndefined();
  });
});

describe('the address of the host', () => {
  it.each([
    ['http://127.0.0.1:7878/studio/', 'http://127.0.0.1:7878'],
    ['https://host.test/weft/studio/index.html#/runs', 'https://host.test/weft'],
    ['http://127.0.0.1:5173/', 'http://127.0.0.1:5173'],
  ])('of the page at %s is %s', (page, host) => {
    expect(hostAddressOf(page)).toBe(host);
  });
});
