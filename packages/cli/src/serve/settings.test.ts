import { DEFAULT_LIMITS } from '@weft/engine';
import { describe, expect, it } from 'vitest';
import type { Json } from '@weft/protocol';
import { LIMIT_FLAGS } from './limit-flags.ts';
import { resolveSettings } from './settings.ts';

function resolve(given: { flags?: Record<string, string[]>; env?: Record<string, string>; config?: Json }) {
  return resolveSettings({
    flags: (name) => given.flags?.[name] ?? [],
    env: given.env ?? {},
    config: given.config === undefined ? undefined : { file: 'weft.json', value: given.config },
  });
}

describe('settings of serve', () => {
  it('have defaults for a local host', () => {
    expect(resolve({})).toMatchObject({
      port: 7878,
      host: '127.0.0.1',
      data: '.weft',
      workflows: [],
      limits: {},
    });
  });

  it('come from flags before variables before the config file', () => {
    const config = { port: 1, host: 'a', data: 'from-file' };
    const env = { WEFT_PORT: '2', WEFT_HOST: 'b' };

    const settings = resolve({ flags: { port: ['3'] }, env, config });

    expect(settings).toMatchObject({ port: 3, host: 'b', data: 'from-file' });
  });

  it('take lists by repetition, by comma, and as lists in the file', () => {
    expect(resolve({ flags: { workflows: ['a,b', 'c'] } }).workflows).toEqual(['a', 'b', 'c']);
    expect(
      resolve({ env: { WEFT_ALLOWED_HOSTS: 'a.example, https://b.example:8443' } }).allowedHosts,
    ).toEqual(['a.example', 'https://b.example:8443']);
    expect(resolve({ config: { 'allow-egress': ['127.0.0.1:1', '[::1]:2'] } }).allowEgress).toEqual([
      '127.0.0.1:1',
      '[::1]:2',
    ]);
  });

  it('have one flag per limit of the engine', () => {
    expect(LIMIT_FLAGS.map(({ limit }) => limit).sort()).toEqual(Object.keys(DEFAULT_LIMITS).sort());
    expect(resolve({ flags: { 'max-body-bytes': ['5'], 'max-node-executions': ['7'] } }).limits).toEqual({
      maxRequestBodyBytes: 5,
      maxNodeExecutions: 7,
    });
  });

  it('name a database, which has defaults of its own', () => {
    const url = 'postgres://weft:hunter2@db/weft';

    expect(resolve({}).store).toBeUndefined();
    expect(resolve({ env: { WEFT_STORE: url } }).store).toEqual({
      url,
      schema: 'weft',
      connections: 10,
      waitMs: 30_000,
    });
    expect(resolve({ config: { store: url, 'store-schema': 'other' } }).store?.schema).toBe('other');
  });

  it('never repeat what may hold a password', () => {
    for (const url of ['hunter2', 'mysql://weft:hunter2@db/weft', 'postgres:///hunter2']) {
      const refused = expect.objectContaining({
        exitCode: 2,
        message: expect.not.stringContaining('hunter2'),
      });
      expect(() => resolve({ flags: { store: [url] } })).toThrow(refused);
    }
    expect(() =>
      resolve({ flags: { store: ['postgres://weft:hunter2@db/weft'], 'store-connections': ['1'] } }),
    ).toThrow('--store-connections must be at least 2');
  });

  it('name proxies by address or range, and never everybody', () => {
    const given = (text: string) => resolve({ flags: { 'trusted-proxies': [text] } });

    expect(given('10.0.0.0/8, 2001:db8::/32,127.0.0.1').trustedProxies).toEqual([
      '10.0.0.0/8',
      '2001:db8::/32',
      '127.0.0.1',
    ]);
    for (const text of [
      'proxy.example',
      '10.0.0.0/33',
      '10.0.0.0/x',
      '10/8/8',
      '0.0.0.0/0',
      '::/0',
      'loopback',
    ])
      expect(() => given(text)).toThrow(
        `--trusted-proxies takes addresses or ranges such as 10.0.0.0/8, not "${text}"`,
      );
  });

  it('are refused with the name of where they came from', () => {
    expect(() => resolve({ flags: { port: ['x'] } })).toThrow(
      '--port must be a whole number from 0 to 65535, not "x".',
    );
    expect(() => resolve({ env: { WEFT_CONFORMANCE: 'maybe' } })).toThrow(
      'WEFT_CONFORMANCE must be true or false',
    );
    expect(() => resolve({ flags: { 'allow-egress': ['localhost'] } })).toThrow('HOST:PORT');
    for (const host of ['a b', 'http://a/path', 'user@a', 'ftp://a', '*', '-a'])
      expect(() => resolve({ flags: { 'allowed-hosts': [host] } })).toThrow('--allowed-hosts takes hosts');
    expect(() => resolve({ config: { 'log-level': 'loud' } })).toThrow(
      '"log-level" in weft.json must be one of debug',
    );
    expect(() => resolve({ config: { prot: 1 } })).toThrow('unknown setting "prot". Did you mean "port"?');
    expect(() => resolve({ config: [1] })).toThrow('must hold a JSON object');
  });
});
