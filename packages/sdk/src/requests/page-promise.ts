import type { Endpoint } from '@weft/protocol/plain';
import { ApiPromise, mapped, type WithResponse } from './api-promise.ts';
import type { Listing } from '../documents.ts';
import type { CallOptions, Transport } from './transport.ts';

interface Pages<Row, Page> {
  first(): ApiPromise<Page>;
  rowsOf(page: Page): readonly Row[];
  /** The page after this one; undefined after the last. */
  next(page: Page): PromiseLike<Page> | undefined;
}

/**
 * What every list returns: a promise of its first page, and a loop over the rows of all pages. The first page is asked for when it is
 * awaited or looped over, each other one when the loop comes to it. Leave the loop to stop asking.
 */
export class PagePromise<Row, Page = Listing<Row>> extends ApiPromise<Page> implements AsyncIterable<Row> {
  readonly #pages: Pages<Row, Page>;

  constructor(pages: Pages<Row, Page>) {
    let first: Promise<WithResponse<Page>> | undefined;
    // Not before: while it waits for its loop, a page that cannot be read would be a failure that is not handled.
    super(() => (first ??= pages.first().withResponse()));
    this.#pages = pages;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const page of this.pages()) yield* this.#pages.rowsOf(page);
  }

  /** The same page by page. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    for (let page: Page | undefined = await this; page !== undefined; page = await this.#pages.next(page))
      yield page;
  }
}

type Query = NonNullable<CallOptions['query']>;

/** A list that the host sends in pages; its rows stand in the answer under the name `member`. */
export function pagedList<Row>(
  transport: Transport,
  endpoint: Endpoint,
  member: string,
  query: Query = {},
): PagePromise<Row> {
  const load = (cursor: Query[string]): ApiPromise<Listing<Row>> =>
    mapped(
      transport.json<Readonly<Record<string, unknown>>>(endpoint, { query: { ...query, cursor } }),
      ({ [member]: rows, nextCursor }) => {
        const items = rows as Row[];
        // A host that leads back to the same page must not keep a loop for ever.
        return typeof nextCursor === 'string' && nextCursor !== cursor ? { items, nextCursor } : { items };
      },
    );
  return new PagePromise({
    first: () => load(query['cursor']),
    rowsOf: ({ items }) => items,
    next: ({ nextCursor }) => (nextCursor === undefined ? undefined : load(nextCursor)),
  });
}

/** A list that comes whole. */
export type ListPromise<Row> = PagePromise<Row, readonly Row[]>;

export function wholeList<Row>(
  transport: Transport,
  endpoint: Endpoint,
  member: string,
  query: Query = {},
): ListPromise<Row> {
  const load = (): ApiPromise<readonly Row[]> =>
    mapped(
      transport.json<Readonly<Record<string, unknown>>>(endpoint, { query }),
      ({ [member]: rows }) => (rows ?? []) as readonly Row[],
    );
  return new PagePromise({ first: load, rowsOf: (all) => all, next: () => undefined });
}
