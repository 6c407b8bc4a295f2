import { describe, expect, it } from 'vitest';
import { createSecretMask, type SecretMask } from './mask.ts';

const VALUE = 'p@ss/w0rd "1"+x';

function maskOf(secrets: Record<string, string>): SecretMask {
  const mask = createSecretMask();
  for (const [id, value] of Object.entries(secrets)) mask.add(id, value);
  return mask;
}

describe('a mask of secrets', () => {
  it.each([
    ['as it is', VALUE],
    ['in base64', Buffer.from(VALUE).toString('base64').replace(/=+$/, '')],
    ['in base64url', Buffer.from(VALUE).toString('base64url')],
    ['in hexadecimal', Buffer.from(VALUE).toString('hex')],
    ['in capital hexadecimal', Buffer.from(VALUE).toString('hex').toUpperCase()],
    ['percent-encoded', encodeURIComponent(VALUE)],
    ['escaped for JSON', JSON.stringify(VALUE).slice(1, -1)],
  ])('replaces a value %s', (_how, form) => {
    const mask = maskOf({ db: VALUE });

    expect(mask.text(`before ${form} after`)).toBe('before [REDACTED:db] after');
  });

  it('finds the password inside the base64 of user and password', () => {
    const header = Buffer.from(`user:${VALUE}`).toString('base64');

    const shown = maskOf({ db: VALUE }).text(`Basic ${header}`);

    expect(shown).toContain('[REDACTED:db]');
    expect(Buffer.from(shown.slice(6), 'base64').toString()).not.toContain(VALUE.slice(4));
  });

  it('leaves values of fewer than eight characters alone (R-9)', () => {
    expect(maskOf({ pin: '1234567' }).text('call 1234567')).toBe('call 1234567');
  });

  it('takes the longer one of two values that begin alike', () => {
    const mask = maskOf({ short: 'abcdefgh', long: 'abcdefghijkl' });

    expect(mask.text('abcdefghijkl abcdefgh')).toBe('[REDACTED:long] [REDACTED:short]');
  });

  it('leaves no end of a value that overlaps another one (R-10)', () => {
    const mask = maskOf({ a: '12345678abcd', b: 'abcdefghijkl' });

    expect(mask.text('<12345678abcdefghijkl>')).toBe('<[REDACTED:a]>');
  });

  it('looks into names, lists and numbers, and keeps the names of the shape', () => {
    const mask = maskOf({ s: 'payloads', n: '1234567890' });

    const shown = mask.json(
      { payloads: [{ payloads: 1234567890, list: ['x payloads'] }], fine: 1 },
      new Set(['payloads']),
    );

    expect(shown).toEqual({ payloads: [{ payloads: '[REDACTED:n]', list: ['x [REDACTED:s]'] }], fine: 1 });
    expect(mask.json({ payloads: 1 })).toEqual({ '[REDACTED:s]': 1 });
  });

  it('gives back the very same document while nothing was resolved', () => {
    const document = { a: [1, 2] };

    expect(createSecretMask().json(document)).toBe(document);
  });
});

describe('text that comes in pieces', () => {
  const say = (mask: SecretMask, pieces: readonly string[]): string[] => {
    const masked = mask.pieces();
    return pieces.map((piece, at) => masked.next(piece, at === pieces.length - 1));
  };

  it('does not leak a value that is split over several pieces (R-11)', () => {
    expect(say(maskOf({ k: 'abcdefgh' }), ['say abc', 'de', 'fgh now', '!'])).toEqual([
      'say ',
      '',
      '[REDACTED:k] ',
      'now!',
    ]);
  });

  it('hides values inside bytes, split anywhere, and leaves other bytes as they are', () => {
    const mask = maskOf({ k: 'gehëimnis' });
    const bytes = Buffer.concat([Buffer.from([0, 255, 128]), Buffer.from('<gehëimnis>'), Buffer.from([254])]);

    for (let cut = 0; cut <= bytes.length; cut++) {
      const masked = mask.bytes();
      const shown = Buffer.concat([
        masked.next(bytes.subarray(0, cut), false),
        masked.next(bytes.subarray(cut), false),
        masked.next(new Uint8Array(0), true),
      ]);

      expect(shown).toEqual(
        Buffer.concat([Buffer.from([0, 255, 128]), Buffer.from('<[REDACTED:k]>'), Buffer.from([254])]),
      );
    }
  });
});
