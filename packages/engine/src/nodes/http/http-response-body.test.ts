import { describe, expect, it } from 'vitest';
import { decodeBody } from './http-response-body.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a response body', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/Problem+JSON',
    ' application/json ',
  ])('is parsed when its type is %s', (type) => {
    expect(decodeBody(bytes('{"a":[1]}'), type)).toEqual({ a: [1] });
  });

  it.each(['text/plain', 'text/html', 'application/jsonp', 'application/json-seq', ''])(
    'is text when its type is %j',
    (type) => {
      expect(decodeBody(bytes('{"a":1}'), type)).toBe('{"a":1}');
    },
  );

  it('is text when it is not JSON after all', () => {
    expect(decodeBody(bytes('<html>'), 'application/json')).toBe('<html>');
    expect(decodeBody(bytes(''), 'application/json')).toBe('');
  });

  it.each(['1e999', '{"a":[-1e999]}', '"\\ud800"', '{"\\udfff":1}', `${'['.repeat(66)}${']'.repeat(66)}`])(
    'stays text when JSON cannot be stored unchanged: %s',
    (text) => {
      expect(decodeBody(bytes(text), 'application/json')).toBe(text);
    },
  );

  it('survives hostile nesting', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);

    expect(decodeBody(bytes(deep), 'application/json')).toBe(deep);
  });

  it('is read in the charset it names, and as UTF-8 when that is unknown', () => {
    expect(decodeBody(new Uint8Array([0xe4]), 'text/plain; charset=ISO-8859-1')).toBe('ä');
    expect(decodeBody(bytes('ä'), 'text/plain; charset=klingon')).toBe('ä');
  });
});
