import { HostError, type JsonObject } from '@weft/protocol';
import type {
  Caller,
  FoundPack,
  PackArchive,
  PackKeychain,
  PackRegistry,
  PackVersion,
} from '../../host/host.ts';
import type { PackFormat } from '../../ports/packs.ts';
import type { Documents } from '../../ports/store.ts';
import {
  keeperOf,
  LISTED,
  namespaceOf,
  type NamespaceRecord,
  type PackRecord,
  places,
  readRecord,
  type VersionRecord,
} from './registry-documents.ts';

export type PackReads = Pick<
  PackRegistry,
  'check' | 'index' | 'manifest' | 'archive' | 'signature' | 'keychain' | 'search'
>;

/** Packs that one query reads; the next page continues after them. */
const SEARCHED = 100;

export function createPackReads(
  store: Pick<Documents, 'readDocument' | 'listDocuments'>,
  format: PackFormat,
): PackReads {
  function check(name: string, version?: string): void {
    format.checkName(name);
    if (version !== undefined) format.checkVersion(version);
  }

  async function readPack(caller: Caller | undefined, name: string): Promise<PackRecord> {
    check(name);
    const found = await readRecord<PackRecord>(store, places.versions(keeperOf(caller, name), name));
    if (found === undefined || publicVersions(found.value).length === 0) throw noSuchPack(name);
    return found.value;
  }

  async function readVersion(
    caller: Caller | undefined,
    name: string,
    version: string,
  ): Promise<VersionRecord> {
    check(name, version);
    const record = (await readPack(caller, name)).versions[version];
    if (record === undefined || record.unpublishedAt !== undefined) throw noSuchVersion(name, version);
    return record;
  }

  async function* pieces(keeper: string, name: string, version: string, count: number): PackArchive['bytes'] {
    for (let index = 0; index < count; index++) {
      const piece = await store.readDocument(places.piece(keeper, name, version, index));
      if (piece === undefined) throw noSuchVersion(name, version);
      yield Buffer.from(piece.body, 'base64');
    }
  }

  return {
    check,
    async index(caller, name) {
      const record = await readPack(caller, name);
      const versions = Object.fromEntries(
        publicVersions(record).map(([version, each]) => [version, shownVersion(each)]),
      );
      return { name, description: record.description, versions, latest: latestOf(record, format) };
    },
    async manifest(caller, name, version) {
      const { deprecation, yanked } = await readVersion(caller, name, version);
      const place = places.manifest(keeperOf(caller, name), name, version);
      const manifest = await readRecord<JsonObject>(store, place);
      if (manifest === undefined) throw noSuchVersion(name, version);
      return {
        ...manifest.value,
        ...(deprecation !== undefined && { deprecation }),
        ...(yanked !== undefined && { yanked }),
      };
    },
    async archive(caller, name, version) {
      const record = await readVersion(caller, name, version);
      return {
        integrity: record.integrity,
        size: record.size,
        signature: record.yanked === undefined ? record.signature : undefined,
        bytes: pieces(keeperOf(caller, name), name, version, record.pieces),
      };
    },
    async signature(caller, name, version) {
      const record = await readVersion(caller, name, version).catch((error: unknown) => {
        if (error instanceof HostError && error.status === 404) return undefined;
        throw error;
      });
      if (record?.manifestSignature === undefined || record.yanked !== undefined)
        throw new HostError('signature_not_available', `There is no signature of ${name} ${version}.`);
      return Buffer.from(record.manifestSignature, 'base64');
    },
    async keychain(caller, name) {
      check(name);
      const found = await readRecord<NamespaceRecord>(store, places.namespace(keeperOf(caller, name), name));
      if (found === undefined) throw noSuchPack(name);
      return keychainOf(name, found.value);
    },
    async search(caller, { text, cursor }) {
      const keeper = keeperOf(caller, text);
      const page = { limit: SEARCHED, ...(cursor !== undefined && { cursor }) };
      const { rows, nextCursor } = await store.listDocuments(keeper, LISTED, '', page);
      const wanted = text.toLowerCase();
      const found = rows.flatMap(({ id: name, body }) => {
        const shown = JSON.parse(body) as Omit<FoundPack, 'name'>;
        const isWanted = name.includes(wanted) || shown.description.toLowerCase().includes(wanted);
        return isWanted ? [{ name, ...shown }] : [];
      });
      return { rows: found, nextCursor };
    },
  };
}

function publicVersions({ versions }: PackRecord): [string, VersionRecord][] {
  return Object.entries(versions).filter(([, { unpublishedAt }]) => unpublishedAt === undefined);
}

/** The newest that ranges find; of none, the newest. */
export function latestOf(record: PackRecord, format: Pick<PackFormat, 'latest'>): string | undefined {
  const all = publicVersions(record);
  const offered = all.filter(([, { yanked }]) => yanked === undefined);
  return format.latest((offered.length > 0 ? offered : all).map(([version]) => version));
}

function shownVersion(record: VersionRecord): PackVersion {
  const { integrity, size, publishedAt, signingMethod, deprecation, yanked } = record;
  return { integrity, size, publishedAt, signingMethod, deprecation, yanked };
}

export function keychainOf(name: string, { keys }: NamespaceRecord): PackKeychain {
  return { namespace: namespaceOf(name), keys };
}

export function noSuchPack(name: string): HostError {
  return new HostError('pack_not_found', `This registry has no pack ${name}.`);
}

export function noSuchVersion(name: string, version: string): HostError {
  return new HostError('pack_version_not_found', `This registry has no version ${version} of ${name}.`);
}
