import { type AgentOptions, Agent as HttpAgent, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { ResolvedAddress } from './policy.ts';

/**
 * Open connections, kept for the next request to the same place. "The same place" includes the checked addresses: a
 * connection is used again only for a request whose addresses were checked anew and came out the same.
 */
export interface PinnedOptions extends RequestOptions {
  readonly pinnedTo: string;
}

const KEPT: AgentOptions = { keepAlive: true, keepAliveMsecs: 60_000, maxFreeSockets: 256, scheduling: 'lifo', timeout: 15_000 };

class PinnedHttpAgent extends HttpAgent {
  override getName(options?: PinnedOptions): string {
    return `${super.getName(options)}|${options?.pinnedTo ?? ''}`;
  }
}

class PinnedHttpsAgent extends HttpsAgent {
  override getName(options?: PinnedOptions): string {
    return `${super.getName(options)}|${options?.pinnedTo ?? ''}`;
  }
}

export interface Connections {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

export function createConnections(): Connections {
  return { http: new PinnedHttpAgent(KEPT), https: new PinnedHttpsAgent(KEPT) };
}

export function pinName(addresses: readonly ResolvedAddress[]): string {
  return addresses.length === 1 ? (addresses[0]?.address ?? '') : addresses.map(({ address }) => address).toSorted().join(',');
}
