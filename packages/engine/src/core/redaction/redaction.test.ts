import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MaskingMode } from '../compile/plan.ts';
import { createRedactor, knownTexts, type Masking, maskValue } from './redaction.ts';
import { CREDENTIAL_EXAMPLES } from './scan/testing/credential-examples.ts';

const hash = (text: string): string => createHash('sha256').update(`keyed ${text}`).digest('hex');
const HASHED: Masking = { mode: 'hash', hash };

function redact(payload: JsonObject, sensitive: Json[], mode: MaskingMode = 'mask'): JsonObject {
  const redactor = createRedactor({ masking: { mode, hash }, known: knownTexts(sensitive) });
  return redactor.apply(payload, JSON.stringify(payload)) ?? payload;
}

describe('what looks like a credential', () => {
  it('is masked in every mode, at any depth, in values and in keys', () => {
    for (const mode of ['mask', 'omit', 'hash', 'passthrough'] as const) {
      for (const { text, hidden = text } of Object.values(CREDENTIAL_EXAMPLES)) {
        const payload = { a: [{ b: `first\n${text}\nlast` }], [text]: 1, c: text };

        const shown = JSON.stringify(redact(payload, [], mode));

        expect(shown, hidden).not.toContain(JSON.stringify(hidden).slice(1, -1));
        expect(shown, hidden).toContain('[REDACTED]');
      }
    }
  });

  it('is masked where only the name of its member tells what it is', () => {
    const value = CREDENTIAL_EXAMPLES['AWS secret key']?.hidden ?? '';

    expect(redact({ keys: { aws_secret_access_key: value, digest: value } }, [])).toEqual({
      keys: { aws_secret_access_key: '[REDACTED]', digest: value },
    });
  });
});

describe('a sensitive value', () => {
  it('is masked inside other strings and in its usual encodings', () => {
    const secret = 'p@ss wörd/"1"';
    const forms = [
      `before ${secret} after`,
      encodeURIComponent(secret),
      new URLSearchParams({ q: secret }).toString(),
      JSON.stringify({ inner: secret }),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('base64url'),
      Buffer.from(`user:${secret}`).toString('base64'),
      Buffer.from(`u:${secret}, and more`).toString('base64url'),
      Buffer.from(`me:${secret}!`).toString('base64'),
    ];

    for (const form of forms) {
      const [masked] = Object.values(redact({ form }, [secret]));

      expect(masked, form).toContain('[REDACTED]');
    }
  });

  it('is found inside objects and lists, while their member names are not secret', () => {
    const payload = { name: 'password', value: 'hunter22', pin: 4711, port: 80, text: '4711' };

    expect(redact(payload, [{ password: ['hunter22', { pin: 4711 }] }])).toEqual({
      name: 'password',
      value: '[REDACTED]',
      pin: '[REDACTED]',
      port: 80,
      text: '[REDACTED]',
    });
  });

  it('follows the mode', () => {
    const payload = { whole: 'hunter22', part: 'a hunter22 b', list: ['hunter22', 1] };
    const mark = `sha256:${hash('hunter22')}`;

    expect(redact(payload, ['hunter22'], 'omit')).toEqual({ part: 'a [REDACTED] b', list: [null, 1] });
    expect(redact(payload, ['hunter22'], 'hash')).toEqual({
      whole: mark,
      part: `a ${mark} b`,
      list: [mark, 1],
    });
    expect(redact(payload, ['hunter22'], 'passthrough')).toEqual(payload);
    expect(maskValue({ b: 1, a: 2 }, HASHED)).toBe(maskValue({ a: 2, b: 1 }, HASHED));
    expect(maskValue('hunter22', { mode: 'hash' })).toBe('[REDACTED]');
  });

  it('of a few characters is masked where it stands alone (R-1)', () => {
    const payload = { a: 'abc', b: 123, c: 'xabcx', d: 1234567, e: 'pin: 123', f: [true, null, ''] };

    expect(redact(payload, ['abc', 123, true, null, ''])).toEqual({
      a: '[REDACTED]',
      b: '[REDACTED]',
      c: 'xabcx',
      d: 1234567,
      e: 'pin: [REDACTED]',
      f: [true, null, ''],
    });
  });

  it('is masked as a number where it was a text, and the other way round', () => {
    expect(redact({ a: 4711, b: '4712' }, ['4711', 4712])).toEqual({ a: '[REDACTED]', b: '[REDACTED]' });
  });

  it('that was hashed cannot hide behind what looks like a mark', () => {
    const secret = '0123456789abcdef'.repeat(4);

    expect(redact({ a: `sha256:${secret}` }, [secret])).toEqual({ a: 'sha256:[REDACTED]' });
  });

  it('that is also a public name stands where it stands alone (R-2)', () => {
    const redactor = createRedactor({
      masking: { mode: 'mask' },
      known: knownTexts(['work']),
      publicNames: ['work'],
    });
    const payload = { from: 'work', output: 'hard work' };

    expect(redactor.apply(payload, JSON.stringify(payload))).toEqual({
      from: 'work',
      output: 'hard [REDACTED]',
    });
  });
});

describe('redaction as a property', () => {
  const canary = fc
    .string({ minLength: 5, maxLength: 24, unit: 'binary' })
    .filter((text) => !/\p{Surrogate}/u.test(text));
  const mode = fc.constantFrom<MaskingMode>('mask', 'omit', 'hash');

  function strings(value: Json): string[] {
    if (typeof value === 'string') return [value];
    if (Array.isArray(value)) return value.flatMap(strings);
    return isJsonObject(value)
      ? Object.entries(value).flatMap(([key, inner]) => [key, ...strings(inner)])
      : [];
  }

  /** A payload into which the canary is planted in several ways. */
  const planted = fc
    .tuple(canary, fc.jsonValue(), fc.string(), fc.string())
    .map(([secret, noise, before, after]) => {
      const payload = {
        noise: JSON.parse(JSON.stringify(noise)) as Json,
        deep: [[{ [`${before}${secret}`]: [`${before}${secret}${after}`] }], secret],
        encoded: encodeURIComponent(secret),
      };
      return { secret, payload };
    });

  it('lets no canary survive outside marks', () => {
    fc.assert(
      fc.property(planted, mode, ({ secret, payload }, chosen) => {
        const masked = redact(payload, [secret], chosen);

        for (const text of strings(masked)) {
          const rest = text.split(/\[REDACTED\]|sha256:[0-9a-f]{64}/);
          expect(rest.some((part) => part.includes(secret))).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('leaves payloads without secrets untouched', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), mode, (value, chosen) => {
        const payload = JSON.parse(JSON.stringify(value)) as JsonObject;
        const redactor = createRedactor({
          masking: { mode: chosen, hash },
          known: knownTexts(['a canary of unlikely words']),
        });

        expect(redactor.apply(payload, JSON.stringify(payload))).toBeUndefined();
      }),
    );
  });

  it('changes nothing when applied again', () => {
    fc.assert(
      fc.property(planted, mode, ({ secret, payload }, chosen) => {
        const once = redact(payload, [secret, 'REDA', 'sha2'], chosen);

        expect(redact(once, [secret, 'REDA', 'sha2'], chosen)).toEqual(once);
      }),
      { numRuns: 500 },
    );
  });
});

describe('more sensitive texts than are looked for', () => {
  it('hide every text from outside, so that what a decision does for them is bounded (R-3)', () => {
    const texts = (count: number): string[] => Array.from({ length: count }, (_, at) => `user-${at}`);

    expect(knownTexts(texts(10_000)).isOverflowing).toBe(false);
    expect(knownTexts(texts(10_001))).toMatchObject({ isOverflowing: true });
    expect(redact({ said: { by: 'any user' } }, texts(10_001))).toEqual({ said: { by: '[REDACTED]' } });
  });
});
