import { isIPv4, isIPv6 } from 'node:net';

/**
 * Which addresses and names are not the public internet. IPv4 is public unless a range below says otherwise; IPv6 is
 * the other way round: only global unicast (2000::/3) is public, less the ranges inside it that lead elsewhere.
 */
export type BlockReason =
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link_local'
  | 'unique_local'
  | 'multicast'
  | 'benchmarking'
  | 'documentation'
  | 'nat64'
  | '6to4'
  | 'ipv4_in_ipv6'
  | 'metadata'
  | 'reserved'
  | 'zone_id'
  | 'local_name'
  | 'not_an_address';

/** The first match decides, so a single address stands before the range that holds it. */
export const BLOCKED_IPV4: readonly (readonly [cidr: string, reason: BlockReason])[] = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.100.100.200/32', 'metadata'],
  ['100.64.0.0/10', 'shared'],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'metadata'],
  ['169.254.169.254/32', 'metadata'],
  ['169.254.0.0/16', 'link_local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', '6to4'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
];

export const BLOCKED_IPV6: readonly (readonly [cidr: string, reason: BlockReason])[] = [
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'ipv4_in_ipv6'],
  ['::ffff:0:0/96', 'ipv4_in_ipv6'],
  ['::ffff:0:0:0/96', 'ipv4_in_ipv6'],
  ['64:ff9b::/96', 'nat64'],
  ['64:ff9b:1::/48', 'nat64'],
  ['2001:2::/48', 'benchmarking'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['3fff::/20', 'documentation'],
  ['fd00:ec2::254/128', 'metadata'],
  ['fc00::/7', 'unique_local'],
  ['fe80::/10', 'link_local'],
  ['fec0::/10', 'private'],
  ['ff00::/8', 'multicast'],
];

const LOCAL_SUFFIXES = ['localhost', 'localdomain', 'local', 'internal', 'home.arpa'];
const METADATA_NAMES = new Set([
  'metadata',
  'metadata.google.internal',
  'instance-data',
  'instance-data.ec2.internal',
]);

interface Range {
  readonly base: bigint;
  readonly shift: bigint;
  readonly reason: BlockReason;
}

const IPV4_RANGES = BLOCKED_IPV4.map(([cidr, reason]) => range(cidr, 32, reason));
const IPV6_RANGES = BLOCKED_IPV6.map(([cidr, reason]) => range(cidr, 128, reason));
const GLOBAL_UNICAST = range('2000::/3', 128, 'reserved');

/** Why this address is refused; undefined when it is a public one. */
export function blockedAddress(address: string): BlockReason | undefined {
  if (address.includes('%')) return 'zone_id';
  if (isIPv4(address)) return match(IPV4_RANGES, ipv4Value(address));
  if (!isIPv6(address)) return 'not_an_address';
  const value = ipv6Value(address);
  return match(IPV6_RANGES, value) ?? (holds(GLOBAL_UNICAST, value) ? undefined : 'reserved');
}

/** Why this name is refused before anyone asks what it resolves to. `host` is lower case, without a trailing dot. */
export function blockedName(host: string): BlockReason | undefined {
  if (METADATA_NAMES.has(host)) return 'metadata';
  const isLocal = LOCAL_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  return isLocal ? 'local_name' : undefined;
}

function match(ranges: readonly Range[], value: bigint): BlockReason | undefined {
  return ranges.find((candidate) => holds(candidate, value))?.reason;
}

function holds(candidate: Range, value: bigint): boolean {
  return value >> candidate.shift === candidate.base;
}

function range(cidr: string, bits: 32 | 128, reason: BlockReason): Range {
  const [address = '', prefix = ''] = cidr.split('/');
  const shift = BigInt(bits - Number(prefix));
  const value = bits === 32 ? ipv4Value(address) : ipv6Value(address);
  return { base: value >> shift, shift, reason };
}

function ipv4Value(address: string): bigint {
  return address.split('.').reduce((value, octet) => (value << 8n) | BigInt(Number(octet)), 0n);
}

function ipv6Value(address: string): bigint {
  const [head = '', tail] = hexOnly(address).split('::');
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array<bigint>(8 - before.length - after.length).fill(0n);
  return [...before, ...zeros, ...after].reduce((value, group) => (value << 16n) | group, 0n);
}

function groups(part: string): bigint[] {
  return part === '' ? [] : part.split(':').map((group) => BigInt(`0x${group}`));
}

/** `::ffff:127.0.0.1` → `::ffff:7f00:1` */
function hexOnly(address: string): string {
  if (!address.includes('.')) return address;
  const cut = address.lastIndexOf(':') + 1;
  const value = ipv4Value(address.slice(cut));
  return `${address.slice(0, cut)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}
