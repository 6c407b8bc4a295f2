import { describe, expect, it } from 'vitest';
import { redactDeep } from '../redaction/scan/credential-text.ts';
import { redactCredentialsIn } from './encoded-credentials.ts';

const KEY = `sk-${'a1B2c3D4'.repeat(4)}`;

describe('a credential', () => {
  it.each([
    ['in plain words', `use ${KEY} please`],
    ['behind an escaped line break', `{\\"text\\":\\"first\\n${KEY}\\"}`],
    ['behind a percent escape', `https://example.test/?next=a%3D${KEY}`],
    ['as the only thing in base64', btoa(KEY)],
    ['in base64 of a header', `Basic ${btoa(`user:${KEY}`)}`],
    ['in URL-safe base64', btoa(`>>>${KEY}>>>`).replaceAll('+', '-').replaceAll('/', '_')],
  ])('is found %s', (_, text) => {
    const shown = redactDeep(text);

    expect(shown).toContain('[REDACTED]');
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain(btoa(KEY).slice(0, 20));
  });

  it('is found percent-encoded where only decoding shows it', () => {
    const text = `header=${encodeURIComponent('Bearer abc123.def456/ghi+789')}&page=2`;

    expect(redactDeep(text)).not.toContain('abc123');
  });

  it.each([
    'An ordinary sentence with 100 % of its words.',
    '0192f0c4-7b1e-7cc3-9d2a-1f2e3d4c5b6a',
    'c2hvcnQgYW5kIGhhcm1sZXNzIGVub3VnaCB0byBzdGF5',
    'https://example.test/a%20b?c=d%2Fe',
    'C:\\new\\table',
  ])('is not seen in %s', (text) => {
    expect(redactDeep(text)).toBe(text);
  });

  it('is found at any depth, in names of members too, and an untouched value stays the same object', () => {
    const clean = { list: [1, null, { word: 'fine' }] };

    expect(JSON.stringify(redactCredentialsIn({ a: [{ b: btoa(KEY), [KEY]: 1 }] }))).toBe(
      '{"a":[{"b":"[REDACTED]","[REDACTED]":1}]}',
    );
    expect(redactCredentialsIn(clean)).toBe(clean);
  });
});
