import type { Log } from '@weft/engine';
import { HostError } from '@weft/protocol';
import type { Call } from '../call.ts';
import { addressOf, isLoopbackAddress, peerOf } from './client-address.ts';

/**
 * Counts keys and links that were not accepted, by the address they came from, so that no client can try many. From so many in a
 * minute on, that address is refused before its key is looked up, a right one too: otherwise trying would continue unhindered.
 *
 * K-4. Loopback is never refused: a user of the machine could read the key file. An address that a proxy on another machine
 *      calls loopback does not count as such.
 * K-5. An IPv6 network of 64 bits is one address; a single machine has as many as it likes.
 * K-6. What is remembered is bounded, however many addresses fail.
 */
export interface FailedAttempts {
  /** Throws HostError `rate_limited`. */
  check(call: Call): void;
  /** Counts one; throws as well when that was one too many. */
  count(call: Call): void;
}

export interface FailedAttemptsOptions {
  /** The failure within a minute that is answered with 429; those before it get the specific error. */
  readonly limit: number;
  readonly log: Log;
  readonly now?: () => number;
}

interface Failures {
  count: number;
  readonly until: number;
}

const WINDOW_MS = 60_000;
const REMEMBERED = 10_000;

export function createFailedAttempts(options: FailedAttemptsOptions): FailedAttempts {
  const { limit, log, now = () => performance.now() } = options;
  // In two generations: when the young one is full, the old one is dropped whole.
  let young = new Map<string, Failures>();
  let old = new Map<string, Failures>();

  function failuresOf(network: string): Failures | undefined {
    const failures = young.get(network) ?? old.get(network);
    return failures !== undefined && failures.until > now() ? failures : undefined;
  }

  function begin(network: string): Failures {
    if (young.size >= REMEMBERED) {
      old = young;
      young = new Map();
    }
    const failures = { count: 0, until: now() + WINDOW_MS };
    young.set(network, failures);
    return failures;
  }

  function refuse({ until }: Failures): never {
    const retryAfter = Math.max(1, Math.ceil((until - now()) / 1_000));
    throw new HostError(
      'rate_limited',
      `${limit} keys or links from this address were not accepted within a minute; wait ${retryAfter} s.`,
      { retryAfterMs: retryAfter * 1_000, retryAfterSeconds: retryAfter, scope: 'address', limit },
      { retryAfter },
    );
  }

  return {
    check(call) {
      if (young.size + old.size === 0) return; // the usual case costs nothing
      const address = addressOf(call);
      const failures = isHere(call, address) ? undefined : failuresOf(networkOf(address));
      if (failures !== undefined && failures.count >= limit) refuse(failures);
    },
    count(call) {
      const address = addressOf(call);
      if (isHere(call, address)) return;
      const network = networkOf(address);
      const failures = failuresOf(network) ?? begin(network);
      failures.count += 1;
      if (failures.count < limit) return;
      if (failures.count === limit) {
        // When all clients share one address, it is a proxy that is not configured as trusted.
        const hint = call.headers['x-forwarded-for'] !== undefined && call.ip === call.socket.remoteAddress;
        log(
          'warn',
          {
            address,
            ...(hint && {
              hint: 'it sends X-Forwarded-For: is it a proxy? see trusted-proxies in the settings',
            }),
          },
          'too many failed attempts; the address is refused for up to a minute',
        );
      }
      refuse(failures);
    },
  };
}

/** On this machine (K-4). */
function isHere(call: Call, address: string): boolean {
  return isLoopbackAddress(address) && isLoopbackAddress(peerOf(call));
}

/** The address itself, or the first 64 bits of an IPv6 one. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head, tail] = address.split('::').map(groupsOf);
  const zeros = 8 - (head?.length ?? 0) - (tail?.length ?? 0);
  const groups = [...(head ?? []), ...Array.from({ length: zeros }, () => '0'), ...(tail ?? [])];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/** Groups of 16 bits; an IPv4 address at the end stands for two. */
function groupsOf(text: string): string[] {
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : group === '' ? [] : [group]));
}
