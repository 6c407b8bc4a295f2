import { canonicalJson, type Json } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { canonicalText } from './canonical-text.ts';
import { canonicalUtf8Text } from './canonical-utf8-text.ts';

const ORDINARY: Json = {
  b: [1, 1e21, -0, 'é\u{1F600}'],
  a: { '': null, '\uD83D\uDE00': true, '\uFB33': 'x' },
};

describe('the canonical text of what a log holds', () => {
  it('is that of RFC 8785 wherever the RFC has one', () => {
    expect(canonicalText(ORDINARY)).toBe(canonicalJson(ORDINARY));
    expect(canonicalUtf8Text(ORDINARY)).toBe(canonicalJson(ORDINARY));
  });

  it('shows half of a surrogate pair by its escape, and as U+FFFD where it must be UTF-8', () => {
    const value = { a: 'x\uD800y', '\uDC00': 1 };

    expect(canonicalText(value)).toBe(String.raw`{"a":"x\ud800y","\udc00":1}`);
    expect(canonicalUtf8Text(value)).toBe('{"a":"x\uFFFDy","\uFFFD":1}');
  });

  it('leaves a text alone that only looks like an escape', () => {
    expect(canonicalUtf8Text(['\uD800', String.raw`\ud800`])).toBe(
      String.raw`["` + '\uFFFD' + String.raw`","\\ud800"]`,
    );
  });
});
