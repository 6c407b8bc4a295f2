import type { Json } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { readA2aPeers } from './config.ts';

const url = 'https://agent.example/';

describe('the peers of a config file', () => {
  it('are read in order, with their defaults', () => {
    const peers = readA2aPeers({
      peers: {
        billing: { url, apiKey: 'secret:billing-key' },
        fake: { url, binding: 'plain', timeoutMs: 5 },
      },
    });

    expect(peers).toEqual([
      { name: 'billing', url: new URL(url), secretId: 'billing-key', binding: 'a2a', timeoutMs: 30_000 },
      { name: 'fake', url: new URL(url), secretId: undefined, binding: 'plain', timeoutMs: 5 },
    ]);
  });

  it.each<[string, Json]>([
    ['a2a must be', 7],
    ['a2a.peers must be', {}],
    ['a2a.servers is unknown', { peers: {}, servers: {} }],
    ['a2a.peers["a b"] is no name', { peers: { 'a b': { url } } }],
    ['a2a.peers.a must be an object', { peers: { a: url } }],
    ['a2a.peers.a is not valid', { peers: { a: {} } }],
    ['a2a.peers.a.url must be an http', { peers: { a: { url: 'ftp://x' } } }],
    ['a2a.peers.a.url must have no user name', { peers: { a: { url: 'https://u:p@x/' } } }],
    ['a2a.peers.a.url must have no user name', { peers: { a: { url: 'https://x/?key=1' } } }],
    ['a2a.peers.a.apiKey must be "secret:NAME"', { peers: { a: { url, apiKey: 'sk-1' } } }],
    ['a2a.peers.a.timeoutMs is not valid', { peers: { a: { url, timeoutMs: 0 } } }],
    ['a2a.peers.a.key is not valid', { peers: { a: { url, key: 1 } } }],
    [
      'a2a.peers has 33 peers',
      { peers: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`p${n}`, { url }])) },
    ],
  ])('stop the host with the field: %s', (message, value) => {
    expect(() => readA2aPeers(value)).toThrow(message);
  });
});
