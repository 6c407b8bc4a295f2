import type { LookupFunction } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import type { Destination } from './destination.ts';
import type { Addresses } from './policy.ts';

/**
 * Open connections, kept for the next request to the same place. "The same place" includes the checked addresses: a
 * connection is used again only for a request whose addresses were checked again and came out the same.
 */
export interface Connections {
  to(destination: Destination, addresses: Addresses): Dispatcher;
}

const MAX_PLACES = 256;
const IDLE_MS = 10_000;

export function createConnections(connectTimeoutMs: number): Connections {
  const places = new Map<string, Pool>();
  return {
    to({ origin }, addresses) {
      const place = `${origin}|${pinName(addresses)}`;
      const known = places.get(place);
      if (known !== undefined) return known;
      const pool = new Pool(origin, {
        connect: { lookup: pinned(addresses), timeout: connectTimeoutMs },
        keepAliveTimeout: IDLE_MS,
        keepAliveMaxTimeout: IDLE_MS,
        pipelining: 1,
      });
      places.set(place, pool);
      forgetOldest(places);
      return pool;
    },
  };
}

/** Running requests on a forgotten place come to their end; its connections close after them. */
function forgetOldest(places: Map<string, Pool>): void {
  if (places.size <= MAX_PLACES) return;
  for (const [place, pool] of places) {
    places.delete(place);
    void pool.close();
    return;
  }
}

/** Answers every lookup of the socket with the checked addresses, so the name is not resolved a second time. */
function pinned(addresses: Addresses): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

function pinName(addresses: Addresses): string {
  let name = '';
  for (const { address } of addresses) name += `${address},`;
  return name;
}
