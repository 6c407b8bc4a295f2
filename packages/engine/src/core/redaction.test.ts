import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MaskingMode } from './plan.ts';
import { CREDENTIAL_SHAPES, createRedactor, maskValue, redactText } from './redaction.ts';

const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex');

function redact(payload: JsonObject, sensitive: Json[], mode: MaskingMode = 'mask'): JsonObject {
  return createRedactor({ mode, sensitive, sha256Hex }).apply(payload, JSON.stringify(payload)) ?? payload;
}

// Put together at run time, so that no scanner takes this file for a leak.
const join = (...parts: string[]): string => parts.join('');
const CREDENTIALS = [
  join('sk-', 'proj-Abc123Def456Ghi789Jkl0'),
  join('AKIA', 'IOSFODNN7EXAMPLE'),
  join('ASIA', 'IOSFODNN7EXAMPLE'),
  join('ghp_', 'abcdefghijklmnopqrstuvwxyz0123456789'),
  join('gho_', 'abcdefghijklmnopqrstuvwxyz0123456789'),
  join('github_pat_', '11ABCDEFG0abcdefghijklmnopqrstuvwxyz'),
  join('xoxb-', '123456789012-abcdefghijkl'),
  join('eyJhbGciOiJIUzI1NiJ9.', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0.', 'dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P'),
  join('AIza', 'SyA1234567890abcdefghijklmnopqrstuv'),
  join('glpat-', 'abcdefghijklmnopqrst'),
  join('weft_live_', '0123456789abcdef'),
  join('weft_test_', '0123456789abcdef'),
  join('-----BEGIN RSA PRIVATE ', 'KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE ', 'KEY-----'),
];

describe('what looks like a credential', () => {
  it('is masked in every mode, at any depth, in values and in keys', () => {
    for (const mode of ['mask', 'omit', 'hash', 'passthrough'] as const) {
      for (const credential of CREDENTIALS) {
        const payload = { a: [{ b: `first\n${credential}\nlast` }], [credential]: 1, c: credential };

        const text = JSON.stringify(redact(payload, [], mode));

        expect(text, credential).not.toContain(JSON.stringify(credential).slice(1, -1));
        expect(text, credential).toContain('[REDACTED]');
      }
    }
  });

  it('loses the password of a URL and the token after Bearer, and keeps the rest', () => {
    expect(redactText('see postgres://weft:hunter22@db:5432/x now')).toBe(
      'see postgres://weft:[REDACTED]@db:5432/x now',
    );
    expect(redactText('Authorization: Bearer abc123.DEF-456')).toBe('Authorization: Bearer [REDACTED]');
  });

  it('is not seen in ordinary text', () => {
    const ordinary = [
      'Bearer authentication is required',
      'the task-runner-with-a-very-long-name',
      'https://example.org/a:b@c',
      'mail me at a@b.example',
      'core.http.request',
      'sha256:0123',
    ];

    for (const text of ordinary) expect(redactText(text)).toBe(text);
  });

  it('is described by one pattern per issuer, all of them global', () => {
    expect(new Set(CREDENTIAL_SHAPES.map((shape) => shape.name)).size).toBe(CREDENTIAL_SHAPES.length);
    expect(CREDENTIAL_SHAPES.every((shape) => shape.pattern.global)).toBe(true);
  });

  it('is looked for in time that grows with the text only', () => {
    const hostile = [
      'a'.repeat(200_000),
      '://'.repeat(60_000),
      'bearer '.repeat(30_000),
      'eyJ.'.repeat(50_000),
      '-----BEGIN '.repeat(20_000),
      'x://a:'.repeat(30_000),
    ];
    const startedAt = performance.now();

    for (const text of hostile) redactText(`${text} weft_live_ bearer`);

    expect(performance.now() - startedAt).toBeLessThan(10_000);
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

    expect(redact(payload, [{ password: ['hunter22', { pin: 4711, small: 80 }] }])).toEqual({
      name: 'password',
      value: '[REDACTED]',
      pin: '[REDACTED]',
      port: 80,
      text: '[REDACTED]',
    });
  });

  it('follows the mode', () => {
    const payload = { whole: 'hunter22', part: 'a hunter22 b', list: ['hunter22', 1] };
    const hash = `sha256:${sha256Hex('hunter22')}`;

    expect(redact(payload, ['hunter22'], 'omit')).toEqual({ part: 'a [REDACTED] b', list: [null, 1] });
    expect(redact(payload, ['hunter22'], 'hash')).toEqual({
      whole: hash,
      part: `a ${hash} b`,
      list: [hash, 1],
    });
    expect(redact(payload, ['hunter22'], 'passthrough')).toEqual(payload);
    expect(maskValue({ b: 1, a: 2 }, 'hash', sha256Hex)).toBe(maskValue({ a: 2, b: 1 }, 'hash', sha256Hex));
  });

  it('shorter than four characters is left alone', () => {
    const payload = { a: 'abc', b: 123, c: 'xabcx' };

    expect(
      createRedactor({ mode: 'mask', sensitive: ['abc', 123] }).apply(payload, JSON.stringify(payload)),
    ).toBeUndefined();
  });

  it('that is also a public name stands where it stands alone', () => {
    const redactor = createRedactor({ mode: 'mask', sensitive: ['work'], publicNames: ['work'] });
    const payload = { nodeId: 'work', output: 'hard work' };

    expect(redactor.apply(payload, JSON.stringify(payload))).toEqual({
      nodeId: 'work',
      output: 'hard [REDACTED]',
    });
  });

  it('is searched for quickly among tens of thousands', () => {
    const sensitive = Array.from({ length: 50_000 }, (_, number) => `user-${number}`);
    const payload = { text: 'user user-x '.repeat(20_000) };
    const startedAt = performance.now();

    const redactor = createRedactor({ mode: 'mask', sensitive });

    expect(redactor.apply(payload, JSON.stringify(payload))).toBeUndefined();
    expect(redactor.redactText('is user-49999 there?')).toBe('is [REDACTED] there?');
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe('redaction as a property', () => {
  const canary = fc
    .string({ minLength: 4, maxLength: 24, unit: 'binary' })
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
          mode: chosen,
          sensitive: ['a canary that nobody types'],
          sha256Hex,
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
