import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { ResolvedAddress } from './destination.ts';
import { type Addresses, errorCode, type Resolve } from './policy.ts';
import { createSystemFile } from './system-file.ts';

/**
 * Every address of a name, as this system would find them: its hosts file, then its name servers, with its search domains.
 * Asked without getaddrinfo, which takes one of four threads for as long as a dead name server is silent; files, compression
 * and hashes of the whole process would wait for those threads.
 */
export interface ResolverOptions {
  /** Instead of those in resolv.conf. */
  readonly servers?: readonly string[];
  readonly hostsPath?: string;
  readonly configPath?: string;
}

const TRY_MS = 2_000;
const TRIES = 3;
const HOSTS_PATH =
  process.platform === 'win32'
    ? `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts';
const LOCALHOST: Addresses = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

export function createResolver(options: ResolverOptions = {}): Resolve {
  const hosts = createSystemFile({ path: options.hostsPath ?? HOSTS_PATH, parse: parseHosts });
  const config = createSystemFile({
    path: options.configPath ?? '/etc/resolv.conf',
    parse: parseResolverConfig,
  });

  async function ask(name: string, signal: AbortSignal): Promise<Addresses> {
    // One for each name: cancelling one cancels all that it was asked.
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (options.servers !== undefined) resolver.setServers(options.servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel);
    try {
      const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const found = [...addressesOf(four, 4), ...addressesOf(six, 6)];
      if (found.length === 0) throwOther(four, six);
      return found;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  return async (host, signal) => {
    const known = hosts().get(host);
    if (known !== undefined) return known;
    if (host === 'localhost' || host.endsWith('.localhost')) return LOCALHOST;
    for (const name of namesToAsk(host, config())) {
      const found = await ask(name, signal);
      if (found.length > 0) return found;
      if (signal.aborted) break;
    }
    return [];
  };
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): Addresses {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}

/** That there is no such name, or no such address of it, is an answer; anything else is not. */
function throwOther(...answers: readonly PromiseSettledResult<string[]>[]): void {
  for (const answer of answers) {
    if (answer.status === 'fulfilled') continue;
    const code = errorCode(answer.reason);
    if (code !== 'ENOTFOUND' && code !== 'ENODATA') throw answer.reason;
  }
}

export function parseHosts(text: string): ReadonlyMap<string, Addresses> {
  const hosts = new Map<string, ResolvedAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 4 && family !== 6) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), { address, family }]);
    }
  }
  return hosts;
}

export interface ResolverConfig {
  readonly search: readonly string[];
  /** Names with fewer dots are looked for in the search domains first. */
  readonly ndots: number;
}

const MOST_DOMAINS = 6;
const MOST_NDOTS = 15;

export function parseResolverConfig(text: string): ResolverConfig {
  let search: readonly string[] = [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    // The last one counts, whichever of the two it is.
    if (keyword === 'search') search = values;
    if (keyword === 'domain') search = values.slice(0, 1);
    if (keyword !== 'options') continue;
    for (const value of values) {
      const given = /^ndots:(\d+)$/.exec(value)?.[1];
      if (given !== undefined) ndots = Math.min(Number(given), MOST_NDOTS);
    }
  }
  return { search: search.filter((domain) => domain !== '.').slice(0, MOST_DOMAINS), ndots };
}

/** In the order in which the system would try them. */
export function namesToAsk(host: string, { search, ndots }: ResolverConfig): readonly string[] {
  const found = search.map((domain) => `${host}.${domain.replace(/\.$/, '')}`);
  return host.split('.').length - 1 >= ndots ? [host, ...found] : [...found, host];
}
