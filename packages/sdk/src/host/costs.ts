import { endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type { Transport } from '../requests/transport.ts';

export type CostGroup = 'day' | 'workflow' | 'model' | 'run';

export interface CostSums {
  readonly calls: number;
  readonly tokens: { readonly input: number; readonly output: number };
  /** US dollars as decimal text, of the calls that had a price; absent when none had. */
  readonly usd?: string;
  readonly unpricedCalls: number;
}

/** With the members that it is grouped by. */
export interface CostEntry extends CostSums {
  readonly day?: string;
  readonly workflowId?: string;
  /** Absent for runs that were deleted. */
  readonly runId?: string;
  readonly provider?: string;
  readonly model?: string;
}

export interface CostReport {
  readonly by: CostGroup;
  /** The first and the last UTC day, as `2026-11-18`. */
  readonly since: string;
  readonly until: string;
  readonly currency: 'USD';
  readonly costs: readonly CostEntry[];
  readonly total: CostSums;
  /** There are more groups than were asked for. */
  readonly hasMore: boolean;
  /** Earlier days were not counted, because there is so much. */
  readonly countedSince?: string;
}

export interface CostFilter {
  /** Default: day. */
  readonly by?: CostGroup;
  /** UTC days, both counted. Default: the last thirty. */
  readonly since?: string;
  readonly until?: string;
  /** Of groups; default 100, at most 1,000. */
  readonly limit?: number;
}

/** US dollars a million tokens, as decimal text. */
export interface ModelPrice {
  readonly inputPerMillion: string;
  readonly outputPerMillion: string;
  readonly cacheReadPerMillion?: string;
  readonly cacheWritePerMillion?: string;
}

export interface PriceList {
  readonly name: string;
  /** The day from which the prices are, as `2026-11-18`: of two lists with a model, the newer one counts. */
  readonly date: string;
  readonly licence: string;
  readonly source?: string;
  readonly currency: 'USD';
  /** By `PROVIDER/MODEL`. */
  readonly models: Readonly<Record<string, ModelPrice>>;
}

export interface PriceListSummary extends Omit<PriceList, 'models'> {
  /** How many it has prices for. */
  readonly models: number;
  readonly importedAt: string;
}

export interface Costs {
  report(filter?: CostFilter): ApiPromise<CostReport>;
  prices: {
    /** The newest first. */
    list(): ApiPromise<{ readonly lists: readonly PriceListSummary[] }>;
    /** In place of one of the same name. Calls that are on record keep their cost. */
    set(list: PriceList): ApiPromise<PriceListSummary>;
    remove(name: string): ApiPromise<void>;
  };
}

export function createCosts(transport: Transport): Costs {
  return {
    report: (filter = {}) => transport.json(endpointOf('getCosts'), { query: { ...filter } }),
    prices: {
      list: () => transport.json(endpointOf('listPrices')),
      set: (list) =>
        transport.json(endpointOf('setPrices'), { body: { ...list, models: { ...list.models } } }),
      remove: (name) => transport.json(endpointOf('removePrices', { priceList: name })),
    },
  };
}
