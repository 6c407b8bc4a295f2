import { describe, expect, it } from 'vitest';
import { ConnectionUrlError, readUrl, type Target } from './connection-url.ts';

function only(url: string): Target {
  const [target, ...others] = readUrl(url);
  if (target === undefined || others.length > 0) throw new Error('not one server');
  return target;
}

describe('a connection URL', () => {
  it.each([
    ['postgres://weft@db/weft', 'prefer'],
    ['postgres://weft@db/weft?sslmode=disable', false],
    ['postgres://weft@localhost/weft', false],
    ['postgres://weft@127.0.0.1:5432/weft', false],
    ['postgres://weft@[::1]:5432/weft', false],
    ['postgres://weft@db.localhost.example/weft', 'prefer'],
    ['postgres:///weft', false],
  ])('%s: TLS is %s', (url, ssl) => {
    expect(readUrl(url).map((target) => target.ssl)).toEqual([ssl]);
  });

  it('checks no certificate with require, everything with verify-full', () => {
    const required = only('postgres://db/weft?sslmode=require').ssl;
    const verified = only('postgres://db/weft?sslmode=verify-full').ssl;

    expect(required).toMatchObject({ rejectUnauthorized: false });
    expect(verified).toMatchObject({ rejectUnauthorized: true });
    expect(only('postgres://db/weft?sslmode=require&sslrootcert=system').ssl).toMatchObject({
      rejectUnauthorized: true,
    });
  });

  it('keeps what is meant for the server, and what is in the password', () => {
    const { url } = only(
      'postgres://weft:p@s/s@db/weft?sslmode=require&application_name=mine&options=-c%20a%3Db',
    );

    expect(url).toBe('postgres://weft:p@s/s@db/weft?application_name=mine&options=-c+a%3Db');
    expect(only('postgres://db/weft?sslmode=disable').url).toBe('postgres://db/weft');
  });

  it.each([
    [
      'postgres://db/weft?sslmode=requrie',
      'sslmode in the URL must be one of disable, allow, prefer, require',
    ],
    [
      'postgres://db/weft?sslmode=verify-full&sslrootcert=/no/such.pem',
      'sslrootcert in the URL names cannot be read: /no/such.pem (ENOENT)',
    ],
    ['postgres://db/weft?sslmode=require&channel_binding=require', 'say sslmode=verify-full'],
    [
      'postgres://one,two/weft?target_session_attrs=standby',
      'target_session_attrs=standby in the URL leads to',
    ],
  ])('%s is refused with the way out', (url, message) => {
    expect(() => readUrl(url)).toThrow(ConnectionUrlError);
    expect(() => readUrl(url)).toThrow(message);
  });

  it('may list several servers, each evaluated for itself', () => {
    const targets = readUrl(
      'postgres://weft:a,b@localhost:5433,[::1],db:6000/weft?target_session_attrs=read-write&a=1',
    );

    expect(targets).toEqual([
      { url: 'postgres://weft:a,b@localhost:5433/weft?a=1', ssl: false },
      { url: 'postgres://weft:a,b@[::1]/weft?a=1', ssl: false },
      { url: 'postgres://weft:a,b@db:6000/weft?a=1', ssl: 'prefer' },
    ]);
  });

  it('may ask for a bound login where the certificate is checked for its name', () => {
    expect(only('postgres://db/weft?sslmode=verify-full&channel_binding=require').url).toBe(
      'postgres://db/weft',
    );
  });
});
