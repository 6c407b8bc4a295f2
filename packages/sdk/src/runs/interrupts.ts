import { endpointOf } from '@weft/protocol/plain';
import type { OpenInterrupt, PageRequest } from '../documents.ts';
import { type PagePromise, pagedList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** Questions that wait for an answer, across the tenant's runs. They are answered with `runs.resolve`. */
export interface Interrupts {
  /** A page is counted in runs, so it may hold more questions than its limit, or none. */
  list(page?: PageRequest): PagePromise<OpenInterrupt>;
}

export function createInterrupts(transport: Transport): Interrupts {
  return {
    list: (page) => pagedList(transport, endpointOf('listInterrupts'), 'interrupts', { ...page }),
  };
}
