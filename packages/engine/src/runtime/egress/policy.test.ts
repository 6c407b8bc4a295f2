import { describe, expect, it } from 'vitest';
import { parseDestination } from './destination.ts';
import { createPolicy, type EgressPolicy, type FindAddresses, type Addresses } from './policy.ts';

const PUBLIC = { address: '93.184.216.34', family: 4 } as const;
const LOOPBACK = { address: '127.0.0.1', family: 4 } as const;
const LOOPBACK6 = { address: '::1', family: 6 } as const;

const answering =
  (...addresses: Addresses): FindAddresses =>
  async () =>
    addresses;

const nobodyAsks: FindAddresses = async (host) => {
  throw new Error(`${host} was resolved`);
};

type Admit = (destination: Parameters<EgressPolicy['admit']>[0]) => Promise<Addresses>;

function policyOf(allow: readonly string[], resolve = nobodyAsks): { admit: Admit } {
  const policy = createPolicy(allow);
  return { admit: (destination) => policy.admit(destination, resolve) };
}

describe('the default policy', () => {
  const policy = policyOf([], answering(PUBLIC));

  it.each([
    'http://127.0.0.1/',
    'http://127.0.0.1:8080/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.0.0.1/',
    'http://017700000001/',
    'http://0177.0.0.1/',
    'http://127.00.00.01/',
    'http://１２７.0.0.1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'http://localhost/',
    'http://LOCALHOST/',
    'http://localhost./',
    'http://localhost../',
    'https://a.b.localhost/',
    'http://localhost.localdomain/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://metadata.google.internal/',
    'http://100.64.0.1/',
    'http://user:pass@127.0.0.1/',
    'http://example.com@127.0.0.1/',
  ])('refuses %s', async (url) => {
    await expect(policy.admit(parseDestination(url))).rejects.toMatchObject({ problem: 'denied' });
  });

  it.each(['http://[fe80::1%25eth0]/', 'http://[::1%251]/', 'http://', 'not a url', '//example.com'])(
    'cannot even read %s',
    (url) => {
      expect(() => parseDestination(url)).toThrow('The URL cannot be read.');
    },
  );

  it.each(['file:///etc/passwd', 'ftp://example.com/', 'gopher://example.com/', 'unix:/run/docker.sock'])(
    'speaks no other scheme than http and https: %s',
    (url) => {
      expect(() => parseDestination(url)).toThrow('must begin with http:// or https://');
    },
  );

  it('refuses local names without asking the resolver', async () => {
    const unasked = policyOf([], nobodyAsks);

    await expect(unasked.admit(parseDestination('http://localhost/'))).rejects.toMatchObject({
      reason: 'local_name',
    });
  });

  it('refuses a name that resolves to loopback', async () => {
    const rebinding = policyOf([], answering(LOOPBACK));

    await expect(rebinding.admit(parseDestination('http://evil.example/'))).rejects.toMatchObject({
      problem: 'denied',
      reason: 'loopback',
      destination: 'evil.example:80',
    });
  });

  it('refuses a name of which only one address is bad', async () => {
    const mixed = policyOf([], answering(PUBLIC, LOOPBACK6));

    await expect(mixed.admit(parseDestination('https://evil.example/'))).rejects.toMatchObject({
      reason: 'loopback',
    });
  });

  it('admits a public name and returns the addresses it checked', async () => {
    await expect(policy.admit(parseDestination('http://example.com/'))).resolves.toEqual([PUBLIC]);
  });

  it('calls a name without addresses a network problem', async () => {
    const empty = policyOf([], answering());

    await expect(empty.admit(parseDestination('http://example.com/'))).rejects.toMatchObject({
      problem: 'network',
      reason: 'ENOTFOUND',
    });
  });
});

describe('the allow list', () => {
  it('admits the pair as it is written in the URL', async () => {
    const policy = policyOf(['Hooks.Test:8080'], answering(LOOPBACK));

    await expect(policy.admit(parseDestination('http://hooks.test:8080/x'))).resolves.toEqual([LOOPBACK]);
  });

  it('admits a name by the pair of its resolved address', async () => {
    const policy = policyOf(['127.0.0.1:8080'], answering(LOOPBACK));

    await expect(policy.admit(parseDestination('http://localhost:8080/'))).resolves.toEqual([LOOPBACK]);
  });

  it('still refuses the name when another of its addresses is not in it', async () => {
    const policy = policyOf(['127.0.0.1:8080'], answering(LOOPBACK, LOOPBACK6));

    await expect(policy.admit(parseDestination('http://localhost:8080/'))).rejects.toMatchObject({
      problem: 'denied',
    });
  });

  it('admits no other port', async () => {
    const policy = policyOf(['127.0.0.1:8080'], nobodyAsks);

    await expect(policy.admit(parseDestination('http://127.0.0.1:8081/'))).rejects.toMatchObject({
      destination: '127.0.0.1:8081',
    });
  });

  it('knows the default ports of both schemes', async () => {
    const policy = policyOf(['127.0.0.1:443', '[::1]:80'], nobodyAsks);

    await expect(policy.admit(parseDestination('https://127.0.0.1/'))).resolves.toHaveLength(1);
    await expect(policy.admit(parseDestination('http://[::1]/'))).resolves.toEqual([LOOPBACK6]);
    await expect(policy.admit(parseDestination('http://127.0.0.1/'))).rejects.toMatchObject({
      problem: 'denied',
    });
  });

  it.each([
    'localhost',
    'localhost:',
    ':80',
    'host:0',
    'host:65536',
    'host:8x',
    'http://host:80',
    'a b:80',
    '*:80/x',
  ])('refuses the entry %s and shows how to write one', (entry) => {
    expect(() => policyOf([entry])).toThrow('is not HOST:PORT');
  });
});
