import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BLOCKED_IPV4, BLOCKED_IPV6, blockedAddress, blockedName } from './addresses.ts';

describe('blockedAddress', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['10.1.2.3', 'private'],
    ['100.64.0.1', 'shared'],
    ['100.127.255.255', 'shared'],
    ['100.100.100.200', 'metadata'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', 'metadata'],
    ['169.254.1.1', 'link_local'],
    ['169.254.169.254', 'metadata'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.8', 'reserved'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', '6to4'],
    ['192.168.0.1', 'private'],
    ['198.18.0.1', 'benchmarking'],
    ['198.19.255.255', 'benchmarking'],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.7', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['::7f00:1', 'ipv4_in_ipv6'],
    ['::127.0.0.1', 'ipv4_in_ipv6'],
    ['::ffff:127.0.0.1', 'ipv4_in_ipv6'],
    ['::ffff:7f00:1', 'ipv4_in_ipv6'],
    ['::ffff:8.8.8.8', 'ipv4_in_ipv6'],
    ['::ffff:0:127.0.0.1', 'ipv4_in_ipv6'],
    ['64:ff9b::7f00:1', 'nat64'],
    ['64:ff9b::127.0.0.1', 'nat64'],
    ['64:ff9b:1::1', 'nat64'],
    ['100::1', 'reserved'],
    ['2001::1', 'reserved'],
    ['2001:2::1', 'benchmarking'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', '6to4'],
    ['3fff::1', 'documentation'],
    ['4000::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['fc00::1', 'unique_local'],
    ['fd12:3456::1', 'unique_local'],
    ['fd00:ec2::254', 'metadata'],
    ['fe80::1', 'link_local'],
    ['fe80::1%eth0', 'zone_id'],
    ['2606:4700::1111%1', 'zone_id'],
    ['fec0::1', 'private'],
    ['ff02::1', 'multicast'],
    ['localhost', 'not_an_address'],
    ['127.1', 'not_an_address'],
    ['', 'not_an_address'],
  ])('refuses %s as %s', (address, reason) => {
    expect(blockedAddress(address)).toBe(reason);
  });

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2001:4860:4860::8888',
    '2a00:1450::1',
  ])('lets the public address %s pass', (address) => {
    expect(blockedAddress(address)).toBeUndefined();
  });

  it('refuses every address inside the blocked IPv4 ranges', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...BLOCKED_IPV4.map(([cidr]) => cidr)),
        fc.nat({ max: 0xffff_ffff }),
        (cidr, random) => {
          expect(blockedAddress(ipv4Inside(cidr, random))).toBeDefined();
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('refuses the first and the last address of every blocked IPv4 range', () => {
    for (const [cidr] of BLOCKED_IPV4) {
      expect(blockedAddress(ipv4Inside(cidr, 0)), cidr).toBeDefined();
      expect(blockedAddress(ipv4Inside(cidr, 0xffff_ffff)), cidr).toBeDefined();
    }
  });

  it('refuses every blocked IPv4 address when it is wrapped in IPv6', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...BLOCKED_IPV4.map(([cidr]) => cidr)),
        fc.nat({ max: 0xffff_ffff }),
        fc.constantFrom('::', '::ffff:', '64:ff9b::'),
        (cidr, random, prefix) => {
          expect(blockedAddress(`${prefix}${ipv4Inside(cidr, random)}`)).toBeDefined();
        },
      ),
    );
  });

  it('lets no IPv6 address outside global unicast pass', () => {
    const group = fc.nat({ max: 0xffff });
    fc.assert(
      fc.property(fc.tuple(group, group, group, group, group, group, group, group), (groups) => {
        fc.pre(groups[0] < 0x2000 || groups[0] > 0x3fff);
        expect(blockedAddress(groups.map((value) => value.toString(16)).join(':'))).toBeDefined();
      }),
    );
  });

  it('refuses the base address of every blocked IPv6 range', () => {
    for (const [cidr] of BLOCKED_IPV6) {
      expect(blockedAddress(cidr.slice(0, cidr.indexOf('/'))), cidr).toBeDefined();
    }
  });
});

describe('blockedName', () => {
  it.each([
    ['localhost', 'local_name'],
    ['a.localhost', 'local_name'],
    ['localhost.localdomain', 'local_name'],
    ['printer.local', 'local_name'],
    ['db.internal', 'local_name'],
    ['router.home.arpa', 'local_name'],
    ['metadata', 'metadata'],
    ['metadata.google.internal', 'metadata'],
    ['instance-data.ec2.internal', 'metadata'],
  ])('refuses %s as %s', (name, reason) => {
    expect(blockedName(name)).toBe(reason);
  });

  it.each(['example.com', 'localhost.example.com', 'mylocalhost', 'internal.example.com', 'notlocal'])(
    'has nothing against %s',
    (name) => {
      expect(blockedName(name)).toBeUndefined();
    },
  );
});

/** The address of the range whose host bits are those of `random`. */
function ipv4Inside(cidr: string, random: number): string {
  const [base = '', prefix = '32'] = cidr.split('/');
  const start = base.split('.').reduce((value, octet) => value * 256 + Number(octet), 0);
  const value = start + (random % 2 ** (32 - Number(prefix)));
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
