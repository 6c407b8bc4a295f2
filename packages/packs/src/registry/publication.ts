/** What a registry holds an archive to that is published to it. */
import { rcompare } from 'semver';
import { checkIdentity, readPack } from '../install/open-pack.ts';
import type { PackManifest } from '../manifest/manifest-schema.ts';
import { PackError } from '../pack-error.ts';
import { isSignedBy, publicKeyOf } from '../signing/ed25519.ts';
import { hasIntegrity, INTEGRITY_PATTERN, integrityOf } from '../signing/integrity.ts';
import { checkInnerSignature, innerSignature } from '../signing/sign-pack.ts';
import { checkSigner, findSigner, type KeyDocument, trustedKeys } from '../signing/trust.ts';
import { namespaceOf } from './keychain.ts';

export interface Publication {
  readonly name: string;
  readonly version: string;
  readonly archive: Uint8Array;
  /** `sha256-…`, or the digest in hexadecimal. */
  readonly integrity?: string | undefined;
  /** Over the archive. */
  readonly signature?: Uint8Array | undefined;
  /** Keys of the namespace; of none, the key inside the archive counts. */
  readonly keys: readonly KeyDocument[];
  readonly at: number;
}

export interface CheckedPublication {
  readonly manifest: PackManifest;
  readonly integrity: string;
  readonly signingMethod: 'manual' | 'none';
  /** `pack.json.sig`, where the manifest names it. */
  readonly manifestSignature: Uint8Array | undefined;
}

/** In the order of the protocol: archive, manifest, digest, signatures. Throws PackError. */
export async function checkPublication(publication: Publication): Promise<CheckedPublication> {
  const { archive, integrity } = publication;
  const { files, manifest } = await readPack(archive);
  checkIdentity(publication, manifest);
  if (integrity !== undefined) checkIntegrity(archive, integrity);
  checkInnerSignature(files, manifest, undefined);
  const inner = innerSignature(files, manifest);
  checkOuterSignature(publication, inner?.publicKey);
  return {
    manifest,
    integrity: integrityOf(archive),
    signingMethod: inner === undefined ? 'none' : 'manual',
    manifestSignature: inner?.signature,
  };
}

function checkIntegrity(archive: Uint8Array, given: string): void {
  const integrity = /^[0-9a-f]{64}$/i.test(given)
    ? `sha256-${Buffer.from(given, 'hex').toString('base64')}`
    : given;
  if (!new RegExp(INTEGRITY_PATTERN).test(integrity) || !hasIntegrity(archive, integrity))
    throw new PackError(
      'pack_integrity_failure',
      `The archive is ${integrityOf(archive)}, which is not what X-Pack-Sha256 says.`,
    );
}

/** A namespace that has keys takes nothing that none of them has signed. */
function checkOuterSignature(
  { name, archive, signature, keys, at }: Publication,
  innerKey: string | undefined,
): void {
  if (keys.length > 0) {
    if (signature === undefined)
      throw new PackError(
        'signature_invalid',
        `Packs of ${namespaceOf(name)} are signed here. Sign it: weft pack sign`,
      );
    const signer = findSigner(
      { keys: trustedKeys(namespaceOf(name), keys) },
      archive,
      signature,
      'the keychain',
    );
    checkSigner(signer, name, at, 'install');
    return;
  }
  if (signature === undefined) return;
  const isOwn =
    innerKey !== undefined && isSignedBy(archive, signature, publicKeyOf(innerKey, 'The key in the archive'));
  if (!isOwn)
    throw new PackError(
      'signature_invalid',
      'The signature is not one of the key in the archive over its bytes.',
    );
}

/** The highest version; a prerelease only where there is nothing else. */
export function latestVersion(versions: readonly string[]): string | undefined {
  const sorted = [...versions].sort(rcompare);
  return sorted.find((version) => !version.includes('-')) ?? sorted[0];
}
