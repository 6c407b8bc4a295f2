import { describe, expect, it } from 'vitest';
import { findCredentials } from './credential-scan.ts';
import { CREDENTIAL_SHAPES } from './credential-table.ts';
import { credentialMember, redactDeep, redactText } from './credential-text.ts';
import { CREDENTIAL_EXAMPLES } from './testing/credential-examples.ts';

describe.each(CREDENTIAL_SHAPES.map((shape) => [shape.name] as const))('a %s', (name) => {
  const example = CREDENTIAL_EXAMPLES[name] ?? { text: '', near: '' };
  const { text, near } = example;
  const hidden = example.hidden ?? text;

  it('is masked, and what stands around it stays', () => {
    const around = (inner: string): string => `before ${inner} after`;

    const shown = redactText(around(text));

    expect(shown).toBe(around(text.replace(hidden, '[REDACTED]')).replace(/ after$/, afterOf(name)));
    expect(redactText(shown)).toBe(shown);
  });

  it('is recognized by its name', () => {
    expect(findCredentials(text).map(({ shape }) => shape.name)).toEqual([name]);
  });

  it('is masked inside JSON, once and twice serialized', () => {
    const once = JSON.stringify({ note: `\n${text}`, other: 1 });
    const twice = JSON.stringify({ body: once });

    for (const json of [once, twice]) {
      const shown = redactText(json);

      expect(shown).toContain('[REDACTED]');
      expect(shown).not.toContain(hidden.split('\n').at(-2) ?? hidden);
    }
  });

  it('is masked percent-encoded', () => {
    const shown = redactText(`next=${encodeURIComponent(` ${text} `)}&page=2`);

    expect(shown).toContain('[REDACTED]');
    expect(shown).not.toContain(encodeURIComponent(hidden));
  });

  it('is masked in base64 and hexadecimal, where it is looked for deeply', () => {
    const bytes = Buffer.from(`x ${text} y`);

    for (const encoded of [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')]) {
      expect(redactDeep(`data:${encoded}.`)).toBe('data:[REDACTED].');
    }
  });

  it('is not seen in what only looks like it', () => {
    expect(redactText(`a ${near} b`)).toBe(`a ${near} b`);
  });
});

/** A key without an end takes everything that follows. */
function afterOf(name: string): string {
  return name === 'PuTTY private key' ? '' : ' after';
}

describe('credentials', () => {
  it('have one example for each shape, and at least 43 shapes', () => {
    const names = CREDENTIAL_SHAPES.map(({ name }) => name);

    expect(Object.keys(CREDENTIAL_EXAMPLES).sort()).toEqual([...names].sort());
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(43);
  });

  it.each([
    'An ordinary sentence with 100 % of its words, and a basic one.',
    '0192f0c4-7b1e-7cc3-9d2a-1f2e3d4c5b6a',
    `sha256:${'0123456789abcdef'.repeat(4)}`,
    '0123456789abcdef'.repeat(4),
    'da39a3ee5e6b4b0d3255bfef95601890afd80709',
    `00-${'0123456789abcdef'.repeat(2)}-0123456789abcdef-01`,
    'https://example.test/a%20b?c=d%2Fe&key=value&token={token}',
    'https://example.test/orders/7?page=2#top',
    'mail me at a@b.example',
    'postgres://{user}:{password}@host, ${SCHEME}://me:${PASSWORD}@host, amqp://me:$PASSWORD@host, x://me:***@host',
    'core.http.request',
    'C:\\new\\table',
    'Bearer of bad news; the bearer is late',
    'Bearer authentication. A bearer token-scoped answer, bearer username/password',
    'the secret_key is in the vault, the api_key: see there',
    'vars.api_key == vars.other_key1234567890',
    "has(inputs.password) && inputs.password=='x1234567'",
    'c2hvcnQgYW5kIGhhcm1sZXNzIGVub3VnaCB0byBzdGF5',
    '{"cursor":"eyJhIjoxfQ","iteration":[0,1],"size":123456789}',
    'ghp_ glpat- sk- AKIA hf_ npm_ xoxb- SG. AC SK eyJ',
  ])('are not seen in %s', (text) => {
    expect(redactText(text)).toBe(text);
    expect(redactDeep(text)).toBe(text);
  });

  it('are seen behind the escapes of JSON inside JSON and of URLs', () => {
    const key = CREDENTIAL_EXAMPLES['sk- key']?.text ?? '';

    for (const before of ['\\n', '\\t', '\\u000a', '%3D', '\n', '"', '=']) {
      expect(redactText(`x${before}${key}`)).toBe(`x${before}[REDACTED]`);
    }
  });

  it('lose the whole password of a URL, also one with an @ that should have been encoded', () => {
    expect(redactText('see amqp://me:p@ss:w0rd@host/x now')).toBe('see amqp://me:[REDACTED]@host/x now');
    expect(redactText('see amqp://:secret@host now')).toBe('see amqp://:[REDACTED]@host now');
    expect(redactText('see amqp://me:$ecret1@host now')).toBe('see amqp://me:[REDACTED]@host now');
  });

  it('are recognized by name and value where an object keeps them apart', () => {
    const value = CREDENTIAL_EXAMPLES['AWS secret key']?.hidden ?? '';

    expect(credentialMember('aws_secret_access_key', value)?.name).toBe('AWS secret key');
    expect(credentialMember('secretAccessKey', value)?.name).toBe('AWS secret key');
    expect(credentialMember('digest', value)).toBeUndefined();
    expect(credentialMember('api_key', 'see the vault')).toBeUndefined();
  });

  it('are seen behind the name that npm has for them', () => {
    const id = `${'0123456789abcdef'.repeat(2)}-1`;

    expect(redactText(`//registry.example/:_authToken=${id}`)).toBe(
      '//registry.example/:_authToken=[REDACTED]',
    );
  });

  it('of an unfinished key take all that follows', () => {
    const [begin] = (CREDENTIAL_EXAMPLES['private key']?.text ?? '').split('\n-----END');

    expect(redactText(`a ${begin} and more`)).toBe('a [REDACTED]');
  });
});
