import { endpointOf } from '@weft/protocol/plain';
import type { Listing, OpenInterrupt, PageRequest } from './documents.ts';
import type { Transport } from './transport.ts';

/** Questions that wait for an answer, across the tenant's runs. They are answered with `runs.resolve`. */
export interface Interrupts {
  /** A page is counted in runs, so it may hold more questions than its limit, or none. */
  list(page?: PageRequest): Promise<Listing<OpenInterrupt>>;
  /** Every open question, page after page; leave the loop to stop asking for more. */
  all(options?: Pick<PageRequest, 'limit'>): AsyncIterable<OpenInterrupt>;
}

export function createInterrupts(transport: Transport): Interrupts {
  async function list(page: PageRequest = {}): Promise<Listing<OpenInterrupt>> {
    const { interrupts, ...rest } = await transport.json<{
      interrupts: OpenInterrupt[];
      nextCursor?: string;
    }>(endpointOf('listInterrupts'), { query: { ...page } });
    return { items: interrupts, ...rest };
  }

  async function* all(options: Pick<PageRequest, 'limit'> = {}): AsyncGenerator<OpenInterrupt> {
    let cursor: string | undefined;
    do {
      const page = await list({ ...options, ...(cursor === undefined ? {} : { cursor }) });
      yield* page.items;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  return { list, all };
}
