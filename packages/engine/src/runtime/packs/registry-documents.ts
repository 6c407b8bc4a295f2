import { HostError, type JsonObject } from '@weft/protocol';
import type { Caller, PackVersion } from '../../host/host.ts';
import type { DocumentPlace, DocumentWrite, Documents, StoredDocument } from '../../ports/store.ts';
import { HOST_TENANT } from '../outbox/subscriptions.ts';

/**
 * What a registry keeps, as documents of the store. Packs that anyone may read belong to the host; those of `private.*` to the tenant
 * that published them. An archive is kept in pieces, written and removed with the record that names it.
 */

/** A version; it stays on record when it was taken back, so that its bytes never change. */
export interface VersionRecord extends PackVersion {
  readonly publishedBy: string;
  readonly pieces: number;
  readonly signature?: string | undefined;
  readonly manifestSignature?: string | undefined;
  readonly unpublishedAt?: number | undefined;
}

export interface PackRecord {
  readonly description: string;
  readonly versions: Readonly<Record<string, VersionRecord>>;
}

export interface NamespaceRecord {
  /** The tenant that may publish in it. */
  readonly owner: string;
  readonly keys: readonly JsonObject[];
}

/** What a tenant has published in all. */
export interface OwnerRecord {
  readonly namespaces: number;
  readonly packs: number;
  readonly bytes: number;
}

/** A record as it was read; undefined where there is none. */
export interface Kept<Value> {
  readonly value: Value;
  readonly version: string;
}

const PRIVATE = 'private.';
export const LISTED = 'pack';
const VERSIONS = 'pack-versions';
const MANIFESTS = 'pack-manifest';
const PIECES = 'pack-piece';
const NAMESPACES = 'pack-namespace';
const OWNERS = 'pack-owner';

export function isPrivatePack(name: string): boolean {
  return name.startsWith(PRIVATE);
}

/** `vendor.acme` of `vendor.acme.payments`. */
export function namespaceOf(name: string): string {
  return name.split('.').slice(0, 2).join('.');
}

/** Whose documents they are. Of private ones there are none without a caller. */
export function keeperOf(caller: Caller | undefined, name: string): string {
  if (!isPrivatePack(name)) return HOST_TENANT;
  if (caller === undefined)
    throw new HostError('unauthenticated', 'Packs of private.* are read with a key of their tenant.');
  return caller.tenant;
}

export const places = {
  listed: (keeper: string, name: string): DocumentPlace => place(keeper, LISTED, '', name),
  versions: (keeper: string, name: string): DocumentPlace => place(keeper, VERSIONS, '', name),
  manifest: (keeper: string, name: string, version: string): DocumentPlace =>
    place(keeper, MANIFESTS, name, version),
  piece: (keeper: string, name: string, version: string, index: number): DocumentPlace =>
    place(keeper, PIECES, `${name}@${version}`, String(index)),
  namespace: (keeper: string, name: string): DocumentPlace =>
    place(keeper, NAMESPACES, '', namespaceOf(name)),
  owner: (tenant: string): DocumentPlace => place(HOST_TENANT, OWNERS, '', tenant),
};

function place(tenant: string, collection: string, scope: string, id: string): DocumentPlace {
  return { tenant, collection, scope, id };
}

export async function readRecord<Value>(
  store: Pick<Documents, 'readDocument'>,
  at: DocumentPlace,
): Promise<Kept<Value> | undefined> {
  const found: StoredDocument | undefined = await store.readDocument(at);
  return found && { value: JSON.parse(found.body) as Value, version: found.version };
}

/** A write that is refused when another one was faster than the one that read `kept`. */
export function replacing(
  at: DocumentPlace,
  kept: Kept<unknown> | undefined,
  value: object,
  now: number,
): DocumentWrite {
  const guard = kept === undefined ? { onlyNew: true } : { replaces: kept.version };
  return { ...at, body: JSON.stringify(value), at: now, ...guard };
}
