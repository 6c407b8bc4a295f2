import { HostError, type JsonObject, type NodeTypeDocument, RESERVED_TYPE_PREFIXES } from '@weft/protocol';
import { canonicalDigest } from '../../core/json/canonical-digest.ts';
import type { CooperativeTask } from '../../core/json/cooperative-task.ts';
import type { Caller } from '../../host/host.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Documents } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { createGate } from '../fairness/gate.ts';
import { runCooperatively } from '../fairness/run-cooperatively.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { NodeTypes, RegisteredNodeType, ServedTypes } from './node-types.ts';
import { createTypeLog, type KnownTypes, NODE_TYPES, nameOf } from './type-log.ts';
import { createTypeMappings } from './type-mappings.ts';
import { checkSchemas, createTypeSchemas } from './type-schemas.ts';
import { userNodeType } from './user-node-type.ts';
import { developmentVersion } from './version-order.ts';

export interface NodeTypeDependencies {
  readonly store: Pick<Documents, 'readDocument' | 'listDocuments'>;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: Pick<HostLimits, 'maxNodeTypes' | 'maxNodeTypeBytes'>;
  /** Types that the host itself has. */
  readonly isOwn: (typeId: string) => boolean;
  readonly served: ServedTypes;
}

/** Registrations of one tenant follow each other, because each is an entry of its log. */
const AT_A_TIME = { inAll: 16, perTenant: 1 };
/** Times that another process may be faster. */
const MAX_TRIES = 100;
/** Tenants whose types fill their limits and are kept in memory at the same time. */
const FULL_TENANTS = 4;

export function createNodeTypes(dependencies: NodeTypeDependencies): NodeTypes {
  const { committer, clock, random, limits, served } = dependencies;
  const watchers = new Set<(tenant: string) => void>();
  const tell = (tenant: string): void => {
    for (const watcher of watchers) watcher(tenant);
  };
  const log = createTypeLog({
    ...dependencies,
    keptBytes: 2 * FULL_TENANTS * limits.maxNodeTypeBytes,
    onNews: tell,
  });
  const mappings = createTypeMappings({ ...dependencies, onChange: tell });
  const schemas = createTypeSchemas();
  const asTypes = new WeakMap<RegisteredNodeType, ReturnType<typeof userNodeType>>();
  const gate = createGate(AT_A_TIME);

  const register: NodeTypes['register'] = async (caller, types, { dev }) => {
    checkNames(types, dependencies.isOwn);
    const at = clock.now();
    const offered = await runCooperatively(caller.tenant, identifyAll(types, at));
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const known = await log.read(caller.tenant);
      const { settled, fresh } = settle(known, offered, dev);
      if (fresh.length === 0) return settled;
      if (tries === 0) await runCooperatively(caller.tenant, checkAll(types, offered, fresh));
      if (await append(caller, known, fresh, at)) return settled;
    }
    throw new HostError(
      'service_unavailable',
      'Many workers register node types at the same time. Try again.',
      { retryAfter: 1 },
      { retryAfter: 1 },
    );
  };

  /** False: another process has written the next entry first. */
  async function append(
    caller: Caller,
    known: KnownTypes,
    fresh: readonly RegisteredNodeType[],
    at: number,
  ): Promise<boolean> {
    const { tenant } = caller;
    const number = known.next;
    const body = JSON.stringify(fresh);
    checkRoom(known, fresh.length, body.length, limits);
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(random),
      tenant,
      collection: NODE_TYPES,
      scope: '',
      id: String(number),
      body,
      at,
      onlyNew: true,
      audit: fresh.map(({ typeId, version, digest }) =>
        auditOf(caller, {
          at,
          action: 'node_type.register',
          target: nameOf(typeId, version),
          details: { digest },
        }),
      ),
    });
    if (result.state === 'refused' && result.reason === 'document_exists') return false;
    if (result.state !== 'committed') throw writeFailure(result);
    log.add(tenant, number, body);
    tell(tenant);
    return true;
  }

  const read: NodeTypes['read'] = async (tenant) => {
    const known = await log.read(tenant);
    return {
      get: known.get,
      versions: known.versions,
      all: known.all,
      newest(typeId) {
        const versions = known.versions(typeId);
        return (
          versions.findLast(({ version }) => served.isServed(tenant, typeId, version)) ?? versions.at(-1)
        );
      },
    };
  };

  return {
    register: (caller, types, options) => gate.pass(caller.tenant, () => register(caller, types, options)),
    read,
    async find(tenant, typeId, version) {
      const types = await read(tenant);
      return version === undefined ? types.newest(typeId) : types.get(typeId, version);
    },
    async list(tenant, typeId) {
      const types = await read(tenant);
      return typeId === undefined ? types.all() : types.versions(typeId);
    },
    asNodeType(type) {
      const made = asTypes.get(type) ?? userNodeType(type, schemas);
      asTypes.set(type, made);
      return made;
    },
    async map(caller, typeId, version, to) {
      const known = await log.read(caller.tenant);
      for (const named of [version, to]) {
        if (named !== undefined && known.get(typeId, named) === undefined)
          throw unknownVersion(known, typeId, named);
      }
      await mappings.set(caller, { typeId, version, to });
    },
    resolveServed: mappings.resolve,
    mappedTo: mappings.leadingTo,
    watch(onChange) {
      watchers.add(onChange);
      return () => void watchers.delete(onChange);
    },
  };
}

function unknownVersion(known: KnownTypes, typeId: string, version: string): HostError {
  const versions = known.versions(typeId).map((type) => type.version);
  const hint =
    versions.length === 0
      ? `No worker has served node type "${typeId}".`
      : `Node type "${typeId}" has no version "${version}"; it has ${versions.slice(-10).join(', ')}.`;
  return new HostError('not_found', hint, { field: versions.length === 0 ? 'typeId' : 'version' });
}

function checkNames(types: readonly NodeTypeDocument[], isOwn: (typeId: string) => boolean): void {
  const seen = new Map<string, number>();
  for (const [index, { typeId, version }] of types.entries()) {
    const prefix = RESERVED_TYPE_PREFIXES.find((reserved) => typeId.startsWith(reserved));
    const details = { field: `types.${index}.typeId`, path: `/types/${index}/typeId`, typeId };
    if (prefix !== undefined || isOwn(typeId)) {
      const whose = prefix === undefined ? 'is one of the host' : `begins with "${prefix}"`;
      throw new HostError(
        'validation_error',
        `Node type "${typeId}" ${whose}; give yours a prefix of your own, such as "acme.".`,
        details,
      );
    }
    const name = nameOf(typeId, version);
    const first = seen.get(name);
    if (first !== undefined) {
      throw new HostError(
        'validation_error',
        `Node type "${typeId}" version "${version}" is defined twice, as types ${first} and ${index} of the request; remove one.`,
        details,
      );
    }
    seen.set(name, index);
  }
}

function* identifyAll(
  types: readonly NodeTypeDocument[],
  registeredAt: number,
): CooperativeTask<readonly RegisteredNodeType[]> {
  const identified: RegisteredNodeType[] = [];
  for (const type of types) identified.push({ ...type, digest: yield* digestOf(type), registeredAt });
  return identified;
}

/** Absent and empty are the same, and the order of secrets does not matter. */
function* digestOf({
  config,
  inputs,
  outputs,
  secrets = [],
  uses = [],
}: NodeTypeDocument): CooperativeTask<string> {
  const described: JsonObject = {
    ...(config !== undefined && { config }),
    ...(inputs !== undefined && { inputs }),
    ...(outputs !== undefined && { outputs }),
    ...(secrets.length > 0 && { secrets: [...secrets].sort() }),
    ...(uses.length > 0 && { uses: [...uses].sort() }),
  };
  return yield* canonicalDigest(described);
}

interface Settled {
  /** What each type of the request is registered as. */
  readonly settled: readonly RegisteredNodeType[];
  /** Those that are not known yet. */
  readonly fresh: readonly RegisteredNodeType[];
}

function settle(known: KnownTypes, offered: readonly RegisteredNodeType[], dev: boolean): Settled {
  const fresh = new Map<string, RegisteredNodeType>();
  const settled = offered.map((type) => {
    const { typeId, version, digest } = type;
    const lookUp = (wanted: string): RegisteredNodeType | undefined =>
      known.get(typeId, wanted) ?? fresh.get(nameOf(typeId, wanted));
    const before = lookUp(version);
    if (before?.digest === digest) return before;
    const name = before === undefined ? version : developmentVersion(version, digest);
    const changed = before === undefined ? undefined : lookUp(name);
    if (before !== undefined && (!dev || (changed !== undefined && changed.digest !== digest)))
      throw conflict(type);
    if (changed !== undefined) return changed;
    const registered = { ...type, version: name };
    fresh.set(nameOf(typeId, name), registered);
    return registered;
  });
  return { settled, fresh: [...fresh.values()] };
}

function* checkAll(
  types: readonly NodeTypeDocument[],
  offered: readonly RegisteredNodeType[],
  fresh: readonly RegisteredNodeType[],
): CooperativeTask<void> {
  const isFresh = new Set(fresh.map(({ typeId, digest }) => nameOf(typeId, digest)));
  for (const [index, type] of types.entries()) {
    const { typeId, digest } = offered[index] as RegisteredNodeType;
    if (isFresh.has(nameOf(typeId, digest))) yield* checkSchemas(type, `/types/${index}`);
  }
}

function conflict({ typeId, version }: RegisteredNodeType): HostError {
  return new HostError(
    'node_type_conflict',
    `Node type "${typeId}" version "${version}" is registered with other schemas or secrets. Raise its version.`,
    { field: 'version', typeId, version },
  );
}

function checkRoom(
  known: KnownTypes,
  types: number,
  bytes: number,
  { maxNodeTypes, maxNodeTypeBytes }: NodeTypeDependencies['limits'],
): void {
  const count = known.count + types;
  const size = known.bytes + bytes;
  if (count <= maxNodeTypes && size <= maxNodeTypeBytes) return;
  const [limit, observed, what] =
    count > maxNodeTypes
      ? [maxNodeTypes, count, 'versions of node types']
      : [maxNodeTypeBytes, size, 'bytes of node types'];
  throw new HostError(
    'conflict',
    `With these the tenant would have ${observed} ${what}; the host keeps at most ${limit} for each tenant.`,
    { limit, observed },
  );
}
