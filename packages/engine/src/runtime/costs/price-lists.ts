import { HostError, type PriceListDocument, type PriceListSummary } from '@weft/protocol';
import { dayFrom } from '../../core/costs/days.ts';
import { picoPerToken } from '../../core/costs/money.ts';
import type { Price, Prices } from '../../core/costs/prices.ts';
import type { Caller } from '../../host/host.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DocumentWrite, Store, StoredDocument } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';

/** Named and dated prices of models, of the host and for all its tenants. The newest date that has a model is the one that counts. */
export interface PriceLists {
  put(caller: Caller, list: PriceListDocument): Promise<PriceListSummary>;
  list(): Promise<PriceListSummary[]>;
  /** False when there is none of this name. */
  remove(caller: Caller, name: string): Promise<boolean>;
  /** Those in force now, the newest first. */
  prices(): Promise<readonly Prices[]>;
}

export interface PriceListDependencies {
  readonly store: Pick<Store, 'readDocument' | 'listDocuments'>;
  readonly committer: Pick<Committer, 'submit'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: RandomBytes;
}

/** No tenant has an empty name, so what stands under it is the host's own. */
const HOST_TENANT = '';
/** What a list is, small, and apart from it the prices themselves. */
const LISTS = 'price-list';
const MODELS = 'price-list-models';
const MOST_LISTS = 16;

export function createPriceLists({ store, committer, clock, random }: PriceListDependencies): PriceLists {
  /** Read again when a list has changed: the small document names the write by its version. */
  const kept = new Map<string, { readonly version: string; readonly prices: Prices }>();

  async function heads(): Promise<readonly StoredDocument[]> {
    return (await store.listDocuments(HOST_TENANT, LISTS, '', { limit: MOST_LISTS })).rows;
  }

  async function write(caller: Caller, name: string, action: string, bodies: Bodies): Promise<void> {
    const at = clock.now();
    const place = { tenant: HOST_TENANT, scope: '', id: name, at };
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(random),
      ...place,
      collection: LISTS,
      ...(bodies.head !== undefined && { body: bodies.head }),
      documents: [{ ...place, collection: MODELS, ...bodyOf(bodies.models) }],
      audit: [auditOf(caller, { at, action, target: name })],
    });
    if (result.state !== 'committed') throw writeFailure(result);
  }

  async function pricesOf({ id, version }: StoredDocument): Promise<Prices> {
    const known = kept.get(id);
    if (known?.version === version) return known.prices;
    const models = await store.readDocument({ tenant: HOST_TENANT, collection: MODELS, scope: '', id });
    const prices = pricesFrom(models?.body ?? '{}');
    kept.set(id, { version, prices });
    return prices;
  }

  return {
    async put(caller, { models, ...about }) {
      const { name } = about;
      checkDate(about.date);
      checkPrices(models);
      const others = (await heads()).filter(({ id }) => id !== name);
      if (others.length >= MOST_LISTS) throw tooManyLists();
      const summary = { ...about, models: Object.keys(models).length, importedAt: clock.now() };
      await write(caller, name, 'prices.set', {
        head: JSON.stringify(summary),
        models: JSON.stringify(models),
      });
      return rendered(summary);
    },
    async list() {
      return (await heads())
        .map(({ body }) => JSON.parse(body) as KeptSummary)
        .sort(newestFirst)
        .map(rendered);
    },
    async remove(caller, name) {
      if (!(await heads()).some(({ id }) => id === name)) return false;
      await write(caller, name, 'prices.remove', {});
      kept.delete(name);
      return true;
    },
    async prices() {
      const lists = (await heads()).map((head) => ({ head, ...(JSON.parse(head.body) as KeptSummary) }));
      return await Promise.all(lists.sort(newestFirst).map(({ head }) => pricesOf(head)));
    },
  };
}

interface Bodies {
  readonly head?: string;
  readonly models?: string;
}

type KeptSummary = Omit<PriceListSummary, 'importedAt'> & { readonly importedAt: number };

function rendered({ importedAt, ...summary }: KeptSummary): PriceListSummary {
  return { ...summary, importedAt: new Date(importedAt).toISOString() };
}

function bodyOf(body: string | undefined): Pick<DocumentWrite, 'body'> {
  return body === undefined ? {} : { body };
}

function newestFirst(a: KeptSummary, b: KeptSummary): number {
  if (a.date !== b.date) return a.date < b.date ? 1 : -1;
  return a.name < b.name ? -1 : 1;
}

/** As it was checked when it came in. */
function pricesFrom(body: string): Prices {
  const models = JSON.parse(body) as PriceListDocument['models'];
  return new Map(
    Object.entries(models).map(([name, model]): [string, Price] => [
      name,
      {
        input: picoPerToken(model.inputPerMillion) ?? 0,
        output: picoPerToken(model.outputPerMillion) ?? 0,
        ...(model.cacheReadPerMillion !== undefined && {
          cacheRead: picoPerToken(model.cacheReadPerMillion),
        }),
        ...(model.cacheWritePerMillion !== undefined && {
          cacheWrite: picoPerToken(model.cacheWritePerMillion),
        }),
      },
    ]),
  );
}

function checkDate(date: string): void {
  if (dayFrom(date) !== undefined) return;
  throw new HostError('validation_error', 'date must be a day, such as "2026-11-18".', { field: 'date' });
}

function checkPrices(models: PriceListDocument['models']): void {
  for (const [name, model] of Object.entries(models)) {
    for (const [part, price] of Object.entries(model)) {
      if (picoPerToken(price) !== undefined) continue;
      throw new HostError(
        'validation_error',
        `models["${name}"].${part} must be dollars a million tokens as text, such as "2.50": at most 1000000, with at most six decimals.`,
        { field: `models.${name}.${part}` },
      );
    }
  }
}

function tooManyLists(): HostError {
  return new HostError(
    'conflict',
    `A host keeps at most ${MOST_LISTS} price lists. Remove one first: weft costs prices rm NAME`,
    { limit: MOST_LISTS },
  );
}
