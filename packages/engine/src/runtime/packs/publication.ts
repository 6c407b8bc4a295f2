import { HostError, type Json } from '@weft/protocol';
import type { Caller, NewPack } from '../../host/host.ts';
import type { ReadPack } from '../../ports/packs.ts';
import type { DocumentWrite } from '../../ports/store.ts';
import {
  type Kept,
  type NamespaceRecord,
  type OwnerRecord,
  type PackRecord,
  places,
  replacing,
  type VersionRecord,
} from './registry-documents.ts';

/** What one tenant may keep in a registry, and one pack have. */
const QUOTAS = { namespaces: 100, packs: 1_000, bytes: 1024 ** 3, versions: 500 } as const;
/** Bytes of an archive in one document. */
const PIECE_BYTES = 384 * 1024;

export interface PublicationInput {
  readonly caller: Caller;
  readonly pack: NewPack;
  readonly read: ReadPack;
  readonly before: {
    readonly namespace: Kept<NamespaceRecord> | undefined;
    readonly versions: Kept<PackRecord> | undefined;
    readonly owner: Kept<OwnerRecord> | undefined;
  };
  readonly keeper: string;
  readonly at: number;
}

export type Publication =
  | { readonly isNew: false; readonly record: VersionRecord }
  | {
      readonly isNew: true;
      readonly record: VersionRecord;
      readonly pack: PackRecord;
      readonly writes: readonly [DocumentWrite, ...DocumentWrite[]];
    };

/** What publishing a pack writes; nothing when these bytes are there. Throws `version_conflict`, and `conflict` past a quota. */
export function publication({ caller, pack, read, before, keeper, at }: PublicationInput): Publication {
  const { name, version, archive } = pack;
  const known = before.versions?.value.versions[version];
  if (known !== undefined && known.integrity !== read.integrity)
    throw new HostError(
      'version_conflict',
      `${name} ${version} was published with other bytes. A version never changes: raise it.`,
      { integrity: known.integrity },
    );
  if (known !== undefined && known.unpublishedAt === undefined) return { isNew: false, record: known };
  const pieces = piecesOf(archive);
  const record: VersionRecord = {
    integrity: read.integrity,
    size: archive.length,
    pieces: pieces.length,
    publishedAt: at,
    publishedBy: caller.principal,
    signingMethod: read.signingMethod,
    signature: pack.signature && Buffer.from(pack.signature).toString('base64'),
    manifestSignature: read.manifestSignature,
  };
  const versions = { ...before.versions?.value.versions, [version]: record };
  // Withdrawn versions still count, because they still fill the store.
  const owner = ownerWith(before, known === undefined ? archive.length : 0);
  refusePast('versions', Object.keys(versions).length, name);
  for (const [quota, value] of Object.entries(owner))
    refusePast(quota as keyof OwnerRecord, value, 'your account');
  const value: PackRecord = { description: read.description ?? '', versions };
  const namespace: readonly DocumentWrite[] =
    before.namespace === undefined
      ? [replacing(places.namespace(keeper, name), undefined, { owner: caller.tenant, keys: [] }, at)]
      : [];
  return {
    isNew: true,
    record,
    pack: value,
    writes: [
      replacing(places.versions(keeper, name), before.versions, value, at),
      replacing(places.owner(caller.tenant), before.owner, owner, at),
      ...namespace,
      { ...places.manifest(keeper, name, version), body: JSON.stringify(read.manifest satisfies Json), at },
      ...pieces.map((body, index) => ({ ...places.piece(keeper, name, version, index), body, at })),
    ],
  };
}

function ownerWith({ namespace, versions, owner }: PublicationInput['before'], bytes: number): OwnerRecord {
  const known = owner?.value ?? { namespaces: 0, packs: 0, bytes: 0 };
  return {
    namespaces: known.namespaces + (namespace === undefined ? 1 : 0),
    packs: known.packs + (versions === undefined ? 1 : 0),
    bytes: known.bytes + bytes,
  };
}

function refusePast(quota: keyof typeof QUOTAS, value: number, of: string): void {
  const limit = QUOTAS[quota];
  if (value <= limit) return;
  throw new HostError('conflict', `A registry keeps ${limit} ${quota} at most of ${of}.`, { quota, limit });
}

function piecesOf(archive: Uint8Array): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < archive.length; at += PIECE_BYTES)
    pieces.push(Buffer.from(archive.subarray(at, at + PIECE_BYTES)).toString('base64'));
  return pieces;
}
