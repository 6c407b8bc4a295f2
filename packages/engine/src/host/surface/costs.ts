import type { CostReport, PriceListDocument, PriceListSummary } from '@weft/protocol';
import type { CostQuery } from '../../ports/store.ts';
import type { Caller } from './caller.ts';

/** What model calls have cost, and the prices by which they do. */
export interface Costs {
  /** Of the caller's tenant. */
  report(caller: Caller, query: CostReportQuery): Promise<CostReport>;
  setPrices(caller: Caller, list: PriceListDocument): Promise<PriceListSummary>;
  /** The newest first. */
  listPrices(): Promise<readonly PriceListSummary[]>;
  /** False when there is no list of this name. */
  removePrices(caller: Caller, name: string): Promise<boolean>;
}

export interface CostReportQuery {
  readonly by: Exclude<CostQuery['by'], 'total'>;
  /** UTC days, as `2026-11-18`, both counted. Default: the last thirty. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly limit: number;
}
