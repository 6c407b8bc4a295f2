import type { Documents } from '../../ports/store.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { StoredSecret } from './sealing.ts';

/** A subscription of a receiver to the events of its tenant's runs. */
export interface Subscription {
  readonly webhookId: string;
  readonly url: string;
  /** Event types; `*` stands for all. */
  readonly events: readonly string[];
  /** Only runs with one of these tags; empty = all runs. */
  readonly tags: readonly string[];
  readonly secret: StoredSecret;
  readonly secretFingerprint: string;
  readonly createdAt: number;
  readonly createdBy: string;
}

/**
 * Every subscription of every tenant, in memory, because the question "who wants to know?" is asked in the middle of a write.
 *
 * O-6. A tenant without subscriptions gets no rows, at the cost of one map access.
 * O-7. A change made here is seen at once; one made by another process, after the next refresh.
 * O-8. The store holds the subscriptions under their tenant, and under the host itself one mark per tenant that has any; the
 *      mark changes with every change, so a refresh reads again only what has changed.
 */
export interface Subscriptions {
  of(tenant: string): readonly Subscription[];
  /** Reads what has changed since the last time. */
  refresh(): Promise<void>;
  start(): void;
  stop(): void;
}

export const WEBHOOKS = 'webhook';
export const MARKS = 'webhook-tenant';
/** The host's own documents belong to no tenant. */
export const HOST_TENANT = '';

const PAGE = 500;
const NONE: readonly Subscription[] = [];

export interface SubscriptionsOptions {
  readonly store: Documents;
  readonly everyMs: number;
  readonly log: Log;
}

export function createSubscriptions({ store, everyMs, log }: SubscriptionsOptions): Subscriptions {
  const known = new Map<string, { readonly mark: string; readonly rows: readonly Subscription[] }>();
  let reading: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function read(): Promise<void> {
    const marks = await listAll(store, HOST_TENANT, MARKS);
    for (const { id: tenant, body: mark } of marks) {
      if (known.get(tenant)?.mark === mark) continue;
      const documents = await listAll(store, tenant, WEBHOOKS);
      known.set(tenant, { mark, rows: documents.map(({ body }) => JSON.parse(body) as Subscription) });
    }
  }

  /** One after the other, so that an older answer never replaces a newer one. */
  function refresh(): Promise<void> {
    const next = reading.catch(() => undefined).then(read);
    reading = next;
    return next;
  }

  return {
    of: (tenant) => known.get(tenant)?.rows ?? NONE,
    refresh,
    start() {
      timer = setInterval(() => {
        refresh().catch((error: unknown) => log('warn', errorFields(error), 'reading webhooks failed'));
      }, everyMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}

async function listAll(
  store: Documents,
  tenant: string,
  collection: string,
): Promise<{ readonly id: string; readonly body: string }[]> {
  const found: { readonly id: string; readonly body: string }[] = [];
  let cursor: string | undefined;
  do {
    const page = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const { rows, nextCursor } = await store.listDocuments(tenant, collection, '', page);
    found.push(...rows);
    cursor = nextCursor;
  } while (cursor !== undefined);
  return found;
}
