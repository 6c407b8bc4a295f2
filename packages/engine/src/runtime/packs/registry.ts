/**
 * A registry of packs over the store of the host: who may read and write which, and what each write leaves behind.
 *
 * J-5. The bytes of a version never change, not even after it was taken back: what is published under it again must be the same.
 * J-6. A namespace belongs to the tenant that published in it first. What is written to it by others is refused, and nothing of it kept.
 */
import { HostError, isJsonObject, type JsonObject, toIso } from '@weft/protocol';
import type { Caller, PackRegistry } from '../../host/host.ts';
import type { PackFormat } from '../../ports/packs.ts';
import type { DocumentWrite, Store } from '../../ports/store.ts';
import { publication } from './publication.ts';
import { createPackReads, keychainOf, latestOf, noSuchPack, noSuchVersion } from './read-packs.ts';
import {
  isPrivatePack,
  keeperOf,
  namespaceOf,
  type NamespaceRecord,
  type OwnerRecord,
  type PackRecord,
  places,
  readRecord,
  replacing,
  type VersionRecord,
} from './registry-documents.ts';
import { createPackWrites, untilWritten, type WriteDependencies } from './write-packs.ts';

export interface RegistryDependencies extends WriteDependencies {
  readonly store: Pick<Store, 'readDocument' | 'listDocuments'>;
  readonly format: PackFormat;
}

const UNPUBLISH_MS = 72 * 60 * 60 * 1_000;
const MOST_KEYS = 100;

export function createPackRegistry({
  store,
  committer,
  clock,
  random,
  format,
}: RegistryDependencies): PackRegistry {
  const reads = createPackReads(store, format);
  const { check } = reads;
  const { write, ownNamespace } = createPackWrites({ store, committer, clock, random });

  /** Changes the record of a version that its owner may change. */
  function change(
    caller: Caller,
    [name, version]: readonly [string, string],
    action: string,
    make: (record: VersionRecord) => {
      readonly record: VersionRecord;
      readonly also?: readonly DocumentWrite[];
    },
  ): Promise<VersionRecord> {
    check(name, version);
    return untilWritten(async () => {
      const keeper = keeperOf(caller, name);
      const found = await readRecord<PackRecord>(store, places.versions(keeper, name));
      const before = found?.value.versions[version];
      if (found === undefined || before === undefined || before.unpublishedAt !== undefined)
        throw noSuchVersion(name, version);
      await ownNamespace(caller, name);
      const { record, also = [] } = make(before);
      const value: PackRecord = { ...found.value, versions: { ...found.value.versions, [version]: record } };
      const now = clock.now();
      const isWritten = await write(caller, { action, target: `${name}@${version}` }, [
        replacing(places.versions(keeper, name), found, value, now),
        await listing(keeper, name, value, now),
        ...also,
      ]);
      return isWritten ? record : undefined;
    });
  }

  /** What lists show of a pack; nothing of one without versions. A manifest that is only now written is given. */
  async function listing(
    keeper: string,
    name: string,
    record: PackRecord,
    at: number,
    written?: { readonly version: string; readonly manifest: JsonObject },
  ): Promise<DocumentWrite> {
    const place = places.listed(keeper, name);
    const version = latestOf(record, format);
    if (version === undefined) return { ...place, at };
    const kept = () => readRecord<JsonObject>(store, places.manifest(keeper, name, version));
    const manifest = version === written?.version ? written.manifest : (await kept())?.value;
    const agents = listedAgents(manifest ?? {});
    const shown = { description: record.description, version, ...(agents.length > 0 && { agents }) };
    return { ...place, at, body: JSON.stringify(shown) };
  }

  return {
    ...reads,
    isPrivate: isPrivatePack,
    async publish(caller, pack) {
      const { name, version } = pack;
      check(name, version);
      const keeper = keeperOf(caller, name);
      const known = await readRecord<NamespaceRecord>(store, places.namespace(keeper, name));
      const read = await format.read({ ...pack, keys: known?.value.keys ?? [], at: clock.now() });
      if (pack.signingMethod !== undefined && pack.signingMethod !== read.signingMethod)
        throw new HostError(
          'validation_error',
          `X-Pack-Signing-Method is ${pack.signingMethod}, and the archive says ${read.signingMethod}.`,
          { field: 'X-Pack-Signing-Method' },
        );
      return untilWritten(async () => {
        const before = {
          namespace: await ownNamespace(caller, name),
          versions: await readRecord<PackRecord>(store, places.versions(keeper, name)),
          owner: await readRecord<OwnerRecord>(store, places.owner(caller.tenant)),
        };
        const made = publication({ caller, pack, read, before, keeper, at: clock.now() });
        if (!made.isNew) return { isNew: false, published: publishedOf(name, version, made.record) };
        const act = {
          action: 'pack.publish',
          target: `${name}@${version}`,
          details: { integrity: read.integrity },
        };
        const [first, ...rest] = made.writes;
        const isWritten = await write(caller, act, [
          first,
          await listing(keeper, name, made.pack, clock.now(), { version, manifest: read.manifest }),
          ...rest,
        ]);
        return isWritten ? { isNew: true, published: publishedOf(name, version, made.record) } : undefined;
      });
    },
    async unpublish(caller, name, version) {
      const keeper = keeperOf(caller, name);
      await change(caller, [name, version], 'pack.unpublish', (before) => {
        const at = clock.now();
        if (at - before.publishedAt > UNPUBLISH_MS)
          throw new HostError(
            'unpublish_window_expired',
            `${name} ${version} was published more than 72 hours ago. Deprecate or yank it.`,
          );
        const gone = Array.from({ length: before.pieces }, (_, index) =>
          places.piece(keeper, name, version, index),
        );
        const also = [places.manifest(keeper, name, version), ...gone].map((place) => ({ ...place, at }));
        return { record: { ...before, unpublishedAt: at }, also };
      });
    },
    async deprecate(caller, name, version, note) {
      const action = note === undefined ? 'pack.undeprecate' : 'pack.deprecate';
      const record = await change(caller, [name, version], action, (before) => ({
        record: { ...before, deprecation: note && deprecationOf(note, caller, before, clock.now()) },
      }));
      return publishedOf(name, version, record);
    },
    async yank(caller, name, version, note) {
      const action = note === undefined ? 'pack.unyank' : 'pack.yank';
      const record = await change(caller, [name, version], action, (before) => ({
        record: {
          ...before,
          yanked: note && { ...given({ ...note }), yankedAt: toIso(clock.now()), yankedBy: caller.principal },
        },
      }));
      return publishedOf(name, version, record);
    },
    rotateKey(caller, name, key) {
      check(name);
      return untilWritten(async () => {
        const found = await ownNamespace(caller, name);
        if (found === undefined) throw noSuchPack(name);
        if (found.value.keys.length >= MOST_KEYS)
          throw new HostError('conflict', `A namespace has ${MOST_KEYS} keys at most.`, { limit: MOST_KEYS });
        const keys = format.addKey(found.value.keys, key);
        const value: NamespaceRecord = { ...found.value, keys };
        const act = {
          action: 'pack.rotate_key',
          target: namespaceOf(name),
          details: { kid: String(keys.at(-1)?.['kid']) },
        };
        const at = places.namespace(keeperOf(caller, name), name);
        const isWritten = await write(caller, act, [replacing(at, found, value, clock.now())]);
        return isWritten ? keychainOf(name, value) : undefined;
      });
    },
  };
}

/** A list has many packs: it names some agents of each, the manifest has all. */
const LISTED_AGENTS = 16;

function listedAgents({ agents }: JsonObject): JsonObject[] {
  return (Array.isArray(agents) ? agents : [])
    .filter(isJsonObject)
    .slice(0, LISTED_AGENTS)
    .map(({ agentId = '', persona = '', modelClass = '' }) => ({ agentId, persona, modelClass }));
}

/** The record of a publication, as it is answered. */
function publishedOf(name: string, version: string, record: VersionRecord): JsonObject {
  const { integrity, publishedAt, signingMethod, deprecation, yanked } = record;
  return {
    name,
    version,
    tarballSha256: integrity,
    publishedAt: toIso(publishedAt),
    signed: signingMethod !== 'none',
    signingMethod,
    ...(deprecation !== undefined && { deprecation }),
    ...(yanked !== undefined && { yanked }),
  };
}

/** The same note again changes nothing, the time included. */
function deprecationOf(
  note: { readonly reason: string; readonly supersededBy?: string | undefined },
  caller: Caller,
  { deprecation: before }: VersionRecord,
  at: number,
): JsonObject {
  if (before?.['reason'] === note.reason && before['supersededBy'] === note.supersededBy) return before;
  return { deprecated: true, ...given({ ...note }), deprecatedAt: toIso(at), deprecatedBy: caller.principal };
}

function given(note: Readonly<Record<string, string | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(note).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
