import { describe, expect, it } from 'vitest';
import { wantsJson } from './accept.ts';

describe('the form of an event answer', () => {
  it.each([
    [undefined, false],
    ['*/*', false],
    ['text/event-stream', false],
    ['application/json', true],
    ['application/*', true],
    ['Application/JSON; charset=utf-8', true],
    ['application/json, text/event-stream', false],
    ['application/json, */*;q=0.1', false],
    ['application/json, text/event-stream;q=0', true],
    ['application/json;q=0, text/event-stream', false],
    ['text/html', false],
    ['', false],
    ['nonsense', false],
  ])('for Accept %s is JSON: %s', (accept, json) => {
    expect(wantsJson(accept)).toBe(json);
  });
});
