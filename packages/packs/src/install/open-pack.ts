/**
 * Takes an archive and says what is in it, or refuses it. The order is fixed: digest, signature, archive, manifest, name, needs.
 *
 * J-1. What is not trusted is not read: digest and signature are held against the bytes before they are inflated.
 */
import type { JsonObject } from '@weft/protocol';
import { MANIFEST_FILE } from '../archive/limits.ts';
import { type PackFiles, readPackArchive } from '../archive/read-archive.ts';
import type { PackManifest, PackNode } from '../manifest/manifest-schema.ts';
import { readManifest } from '../manifest/read-manifest.ts';
import { PackError } from '../pack-error.ts';
import { hasIntegrity, integrityOf } from '../signing/integrity.ts';
import { checkInnerSignature } from '../signing/sign-pack.ts';
import {
  checkSigner,
  findSigner,
  isAllowed,
  type Occasion,
  type Signed,
  type Trust,
} from '../signing/trust.ts';
import { agentsOf } from './agents.ts';
import { checkRequirements, type HostOffer } from './requirements.ts';
import { schemaAt } from './schema-file.ts';

export interface PackSource {
  readonly archive: Uint8Array;
  /** Over the archive; absent where there is none. */
  readonly signature?: Uint8Array | undefined;
  /** The digest that the archive must have. */
  readonly integrity?: string | undefined;
  readonly name?: string | undefined;
  readonly version?: string | undefined;
}

export interface OpenedPack {
  readonly manifest: PackManifest;
  readonly files: PackFiles;
  readonly integrity: string;
  readonly signed: Signed | undefined;
}

/** Throws PackError. */
export async function openTrustedPack(
  source: PackSource,
  trust: Trust,
  offer: HostOffer,
  at: number,
  occasion: Occasion,
): Promise<OpenedPack> {
  const { archive, signature, integrity } = source;
  if (integrity !== undefined && !hasIntegrity(archive, integrity))
    throw new PackError(
      occasion === 'load' ? 'pack_integrity_mismatch' : 'pack_integrity_failure',
      `The archive is ${integrityOf(archive)}, not ${integrity}.`,
    );
  if (trust.mode === 'pinned' && integrity === undefined)
    throw new PackError(
      'pack_not_pinned',
      `The trust mode is pinned: pass --integrity with the digest that you expect. This archive has ${integrityOf(archive)}.`,
    );
  if (trust.mode === 'verified' && signature === undefined)
    throw new PackError(
      'signature_not_available',
      'The pack has no signature (FILE.sig next to it), and the trust mode is verified. Have it signed (weft pack sign), or set another mode in trust.json.',
    );
  const signer =
    trust.mode === 'verified' && signature !== undefined ? findSigner(trust, archive, signature) : undefined;
  const { files, manifest } = await readPack(archive);
  checkIdentity(source, manifest);
  const signed = signer === undefined ? undefined : checkSigner(signer, manifest.name, at, occasion);
  checkInnerSignature(files, manifest, signed?.publicKey);
  if (trust.mode === 'allowlist' && !isAllowed(trust, manifest.name))
    throw new PackError(
      'pack_not_approved',
      `trust.json does not allow ${manifest.name}. Add it to "allow" there.`,
    );
  checkRequirements(manifest, offer);
  return { manifest, files, integrity: integrityOf(archive), signed };
}

/** The files and the manifest, which fit each other. Says nothing about trust. Throws PackError. */
export async function readPack(archive: Uint8Array): Promise<Pick<OpenedPack, 'manifest' | 'files'>> {
  const files = await readPackArchive(archive);
  const manifest = readManifest(files.get(MANIFEST_FILE) ?? new Uint8Array());
  checkFiles(manifest, files);
  return { manifest, files };
}

/** Throws PackError when the manifest names files that are not there, or no schemas. */
export function checkFiles(manifest: PackManifest, files: PackFiles): void {
  const { entry, language } = manifest.runtime;
  if (language !== 'remote' && !files.has(entry))
    throw new PackError(
      'tarball_entry_missing',
      `runtime.entry names ${JSON.stringify(entry)}, which is not in the pack.`,
    );
  for (const node of manifest.nodes) schemasOf(node, files);
  agentsOf(manifest, files);
}

/** Throws `manifest_name_mismatch`, `manifest_version_mismatch`. */
export function checkIdentity(
  { name, version }: Pick<PackSource, 'name' | 'version'>,
  manifest: PackManifest,
): void {
  if (name !== undefined && manifest.name !== name)
    throw new PackError('manifest_name_mismatch', `The archive holds ${manifest.name}, not ${name}.`);
  if (version !== undefined && manifest.version !== version)
    throw new PackError(
      'manifest_version_mismatch',
      `The archive holds ${manifest.name} ${manifest.version}, not ${version}.`,
    );
}

export interface NodeSchemas {
  readonly config?: JsonObject;
  readonly inputs?: JsonObject;
  readonly outputs?: JsonObject;
}

const REFS = [
  ['config', 'configSchemaRef'],
  ['inputs', 'inputSchemaRef'],
  ['outputs', 'outputSchemaRef'],
] as const;

/** The schemas that a node's manifest names. Throws `schema_ref_missing`. */
export function schemasOf(node: PackNode, files: PackFiles): NodeSchemas {
  return Object.fromEntries(
    REFS.flatMap(([part, field]) => {
      const ref = node[field];
      return ref === undefined ? [] : [[part, objectSchemaAt(ref, `${node.typeId}: ${field}`, files)]];
    }),
  );
}

function objectSchemaAt(ref: string, place: string, files: PackFiles): JsonObject {
  const schema = schemaAt(ref, place, files);
  if (schema['type'] === 'object') return schema;
  throw new PackError('schema_ref_missing', `${place}: ${ref} is no JSON Schema with "type": "object".`);
}
