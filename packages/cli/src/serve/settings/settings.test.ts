import { DEFAULT_LIMITS } from '@weft/engine';
import { describe, expect, it } from 'vitest';
import type { Json } from '@weft/protocol';
import { serve } from '../../commands/serve.ts';
import { checkFlags } from '../../parsing/flags.ts';
import { ALL_SETTINGS, LIMIT_SETTINGS } from './settings-table.ts';
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

  it('hold every limit of the engine, from a variable or the config file', () => {
    const env = { WEFT_MAX_BODY_BYTES: '5', WEFT_MAX_NODE_EXECUTIONS: '6' };
    const config = { 'max-node-executions': 7, 'poll-ms': 8 };

    expect(LIMIT_SETTINGS.map(([limit]) => limit).sort()).toEqual(Object.keys(DEFAULT_LIMITS).sort());
    expect(resolve({ env, config }).limits).toEqual({
      maxRequestBodyBytes: 5,
      maxNodeExecutions: 6,
      pollMs: 8,
    });
  });

  it('have each a variable, and at most 25 of them are flags with those of every command', () => {
    const withoutVariable = ALL_SETTINGS.filter(({ sources }) => !sources.includes('variable'));

    expect(withoutVariable.map(({ name }) => name)).toEqual(['accept-data-loss']); // it is for one start only
    expect(new Set(ALL_SETTINGS.map(({ variable }) => variable)).size).toBe(ALL_SETTINGS.length);
    expect(Object.keys(serve.args).length).toBeLessThanOrEqual(25);
  });

  it.each(ALL_SETTINGS.filter(({ sources }) => !sources.includes('flag')))(
    'say where $name goes when it is given as a flag',
    ({ name, variable }) => {
      expect(() => checkFlags('weft serve', serve, [`--${name}`, '1'])).toThrow(
        `--${name} is not a flag. Put "${name}" into the config file (--config FILE), or set ${variable}.`,
      );
    },
  );

  it('take a boolean in the config file, and not the name of the file itself', () => {
    expect(resolve({ config: { 'access-log': true } }).accessLog).toBe(true);
    expect(() => resolve({ config: { config: 'other.json' } })).toThrow('unknown setting "config"');
    expect(() => resolve({ config: { 'accept-data-loss': true } })).toThrow('unknown setting');
    expect(resolve({ env: { WEFT_ACCEPT_DATA_LOSS: '1' } }).acceptDataLoss).toBe(false);
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
      resolve({ env: { WEFT_STORE: 'postgres://weft:hunter2@db/weft', WEFT_STORE_CONNECTIONS: '1' } }),
    ).toThrow('WEFT_STORE_CONNECTIONS takes a whole number from 2 to 1000, not "1".');
  });

  it('name proxies by address or range, and never all addresses', () => {
    const given = (text: string) => resolve({ env: { WEFT_TRUSTED_PROXIES: text } });

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
        `WEFT_TRUSTED_PROXIES takes addresses or ranges such as 10.0.0.0/8, not "${text}"`,
      );
  });

  it('are rejected with the name of where they came from', () => {
    expect(() => resolve({ flags: { port: ['x'] } })).toThrow(
      '--port takes a whole number from 0 to 65535, not "x".',
    );
    expect(() => resolve({ env: { WEFT_CONFORMANCE: 'maybe' } })).toThrow(
      'WEFT_CONFORMANCE takes true or false',
    );
    expect(() => resolve({ flags: { 'allow-egress': ['localhost'] } })).toThrow('HOST:PORT');
    for (const host of ['a b', 'http://a/path', 'user@a', 'ftp://a', '*', '-a'])
      expect(() => resolve({ flags: { 'allowed-hosts': [host] } })).toThrow('--allowed-hosts takes hosts');
    expect(() => resolve({ config: { 'log-level': 'loud' } })).toThrow(
      '"log-level" in weft.json takes one of debug',
    );
    expect(() => resolve({ config: { prot: 1 } })).toThrow('unknown setting "prot". Did you mean "port"?');
    expect(() => resolve({ config: [1] })).toThrow('must hold a JSON object');
  });
});
