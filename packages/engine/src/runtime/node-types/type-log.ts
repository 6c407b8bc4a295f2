import { createBoundedCache } from '../collections/bounded-cache.ts';
import type { Documents } from '../../ports/store.ts';
import type { RegisteredNodeType } from './node-types.ts';
import { compareVersions } from './version-order.ts';

/**
 * What was registered for a tenant, as the store keeps it: entries that are numbered from 0 without gap, each written once. A process
 * that knows the entries up to a number reads the next one alone, and of two processes that write the same number one is refused.
 */

export const NODE_TYPES = 'node-types';

const PAGE = 500;

/** Everything that was registered for a tenant. Grows in place as further entries are read. */
export interface KnownTypes {
  /** Number of the next entry. */
  readonly next: number;
  readonly count: number;
  /** Bytes of the entries. */
  readonly bytes: number;
  get(typeId: string, version: string): RegisteredNodeType | undefined;
  /** In order of version, the newest last. */
  versions(typeId: string): readonly RegisteredNodeType[];
  /** By type id, then by version. */
  all(): readonly RegisteredNodeType[];
}

export interface TypeLog {
  /** Everything that was registered before the call. */
  read(tenant: string): Promise<KnownTypes>;
  /** Takes in an entry that this process has just written. */
  add(tenant: string, number: number, body: string): void;
}

export interface TypeLogOptions {
  readonly store: Pick<Documents, 'readDocument' | 'listDocuments'>;
  /** Bytes of entries, of all tenants, that are kept in memory. */
  readonly keptBytes: number;
  /** Another process has registered something. */
  readonly onNews: (tenant: string) => void;
}

export function createTypeLog({ store, keptBytes, onNews }: TypeLogOptions): TypeLog {
  const kept = createBoundedCache<string, GrowingTypes>(keptBytes);

  async function load(tenant: string): Promise<GrowingTypes> {
    const entries: { readonly number: number; readonly body: string }[] = [];
    let cursor: string | undefined;
    do {
      const page = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const { rows, nextCursor } = await store.listDocuments(tenant, NODE_TYPES, '', page);
      entries.push(...rows.map(({ id, body }) => ({ number: Number(id), body })));
      cursor = nextCursor;
    } while (cursor !== undefined);
    const types = createGrowingTypes();
    entries.sort((left, right) => left.number - right.number);
    for (const { number, body } of entries) types.take(number, body);
    return types;
  }

  function keep(tenant: string, types: GrowingTypes): void {
    kept.set(tenant, types, types.bytes + EMPTY_BYTES);
  }

  return {
    async read(tenant) {
      const before = kept.get(tenant);
      const types = before ?? (await load(tenant));
      const from = types.next;
      for (;;) {
        const number = types.next;
        const id = String(number);
        const entry = await store.readDocument({ tenant, collection: NODE_TYPES, scope: '', id });
        if (entry === undefined) break;
        types.take(number, entry.body);
      }
      keep(tenant, types);
      if (before !== undefined && types.next > from) onNews(tenant);
      return types;
    },
    add(tenant, number, body) {
      const types = kept.get(tenant);
      types?.take(number, body);
      if (types !== undefined) keep(tenant, types);
    },
  };
}

/** What a tenant without any types weighs. */
const EMPTY_BYTES = 500;

interface GrowingTypes extends KnownTypes {
  /** Nothing happens when it has been taken in before. */
  take(number: number, body: string): void;
}

function createGrowingTypes(): GrowingTypes {
  const byName = new Map<string, RegisteredNodeType>();
  const byType = new Map<string, RegisteredNodeType[]>();
  let next = 0;
  let bytes = 0;

  return {
    get next() {
      return next;
    },
    get count() {
      return byName.size;
    },
    get bytes() {
      return bytes;
    },
    get: (typeId, version) => byName.get(nameOf(typeId, version)),
    versions: (typeId) => byType.get(typeId) ?? [],
    all: () => [...byType.keys()].sort().flatMap((typeId) => byType.get(typeId) ?? []),
    take(number, body) {
      if (number !== next) return;
      next = number + 1;
      bytes += body.length;
      for (const type of JSON.parse(body) as RegisteredNodeType[]) {
        byName.set(nameOf(type.typeId, type.version), type);
        const versions = [...(byType.get(type.typeId) ?? []), type];
        // A stable sort: of equal precedence, the one registered first comes first.
        byType.set(
          type.typeId,
          versions.sort((left, right) => compareVersions(left.version, right.version)),
        );
      }
    },
  };
}

/** Neither of the two holds an at sign. */
export function nameOf(typeId: string, version: string): string {
  return `${typeId}@${version}`;
}
