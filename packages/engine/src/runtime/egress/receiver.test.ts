import { describe, expect, it } from 'vitest';
import { createReceiverCheck } from './receiver.ts';

describe('a URL to send to', () => {
  const check = createReceiverCheck(['127.0.0.1:8080', '[::1]:8080', 'inside.example.org:443']);

  it.each(['https://example.org/', 'https://example.org:8443/a?b=c', 'https://93.184.216.34/'])(
    'may be %s',
    (url) => {
      expect(check(url)).toBeUndefined();
    },
  );

  it.each([
    'http://127.0.0.1:8080/x',
    'https://127.0.0.1:8080/',
    'http://[::1]:8080/',
    'http://0x7f.1:8080/',
  ])('may be %s, which an operator has admitted', (url) => {
    expect(check(url)).toBeUndefined();
  });

  it.each([
    ['', 'https'],
    ['/relative', 'https'],
    ['mailto:ada@example.org', 'https'],
    ['http://example.org/', 'https'],
    ['http://127.0.0.1:8081/', 'https'],
    ['https://user:s3cret@example.org/', 'password'],
    ['http://user:s3cret@127.0.0.1:8080/', 'password'],
    ['https://127.0.0.1/', 'public'],
    ['https://0177.0.0.1/', 'public'],
    ['https://[::ffff:10.0.0.1]/', 'public'],
    ['https://[fe80::1]/', 'public'],
    ['https://192.168.1.1/', 'public'],
    ['https://169.254.169.254/', 'public'],
    ['https://localhost./', 'public'],
    ['https://db.internal/', 'public'],
    ['https://metadata/', 'public'],
  ])('may not be %s', (url, word) => {
    const complaint = check(url);

    expect(complaint).toContain(word);
    expect(complaint).not.toContain('s3cret');
  });
});
