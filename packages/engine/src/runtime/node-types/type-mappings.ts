import { HostError } from '@weft/protocol';
import type { Caller } from '../../host/host.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Documents, TaskType } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';
import type { Committer } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { nameOf } from './type-log.ts';

/** Versions whose tasks an operator has given to the workers of another one. */
export interface TypeMappings {
  set(caller: Caller, mapping: TypeMapping): Promise<void>;
  resolve(tenant: string, typeId: string, version: string): Promise<string>;
  /** Those that lead from another version of a type to one of these. */
  leadingTo(
    tenant: string,
    types: readonly TaskType[],
  ): Promise<readonly (TypeMapping & { readonly to: string })[]>;
}

export interface TypeMapping {
  readonly typeId: string;
  readonly version: string;
  /** Absent: its own workers perform them. */
  readonly to?: string | undefined;
}

export interface TypeMappingOptions {
  readonly store: Pick<Documents, 'listDocuments'>;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly onChange: (tenant: string) => void;
}

const COLLECTION = 'node-type-mapping';
const PAGE = 500;
/** What another process has mapped is seen after this. */
const FRESH_MS = 1_000;
const KEPT_MAPPINGS = 10_000;

interface Read {
  readonly at: number;
  readonly to: Promise<ReadonlyMap<string, string>>;
}

export function createTypeMappings(options: TypeMappingOptions): TypeMappings {
  const { store, committer, clock, random } = options;
  const kept = createBoundedCache<string, Read>(KEPT_MAPPINGS);

  async function load(tenant: string): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    let cursor: string | undefined;
    do {
      const page = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const { rows, nextCursor } = await store.listDocuments(tenant, COLLECTION, '', page);
      for (const { id, body } of rows) found.set(id, (JSON.parse(body) as { to: string }).to);
      cursor = nextCursor;
    } while (cursor !== undefined);
    return found;
  }

  function mapped(tenant: string): Promise<ReadonlyMap<string, string>> {
    const known = kept.get(tenant);
    if (known !== undefined && clock.monotonic() - known.at < FRESH_MS) return known.to;
    const read = { at: clock.monotonic(), to: load(tenant) };
    kept.set(tenant, read);
    read.to.then(
      (to) => kept.set(tenant, read, 1 + to.size),
      () => kept.delete(tenant),
    );
    return read.to;
  }

  return {
    async set(caller, { typeId, version, to }) {
      kept.delete(caller.tenant);
      const before = await mapped(caller.tenant);
      if (to !== undefined && followed(before, typeId, to).has(version)) throw leadsBack(version, to);
      const at = clock.now();
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        tenant: caller.tenant,
        collection: COLLECTION,
        scope: '',
        id: nameOf(typeId, version),
        ...(to !== undefined && { body: JSON.stringify({ to }) }),
        at,
        audit: [
          auditOf(caller, {
            at,
            action: 'node_type.map',
            target: nameOf(typeId, version),
            details: { to: to ?? null },
          }),
        ],
      });
      kept.delete(caller.tenant);
      if (result.state !== 'committed') throw writeFailure(result);
      options.onChange(caller.tenant);
    },
    async resolve(tenant, typeId, version) {
      const to = await mapped(tenant);
      if (to.size === 0) return version;
      return [...followed(to, typeId, version)].at(-1) ?? version;
    },
    async leadingTo(tenant, types) {
      const to = await mapped(tenant);
      if (to.size === 0) return [];
      return types.flatMap(({ typeId, version }) => {
        const prefix = nameOf(typeId, '');
        return [...to.keys()].flatMap((name) => {
          const from = name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
          const isLed = from !== undefined && [...followed(to, typeId, from)].at(-1) === version;
          return isLed ? { typeId, version: from, to: version } : [];
        });
      });
    },
  };
}

/** The versions that lead on from one, itself first. Ends also where two operators made a circle at the same moment. */
function followed(to: ReadonlyMap<string, string>, typeId: string, version: string): ReadonlySet<string> {
  const seen = new Set<string>();
  let at: string | undefined = version;
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    at = to.get(nameOf(typeId, at));
  }
  return seen;
}

function leadsBack(version: string, to: string): HostError {
  return new HostError(
    'validation_error',
    `Version "${to}" leads back to "${version}": map it to a version that is served, or remove the other mapping first.`,
    { field: 'to', version, to },
  );
}
