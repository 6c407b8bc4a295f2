import type { KeyObject } from 'node:crypto';
import { MANIFEST_FILE } from '../archive/limits.ts';
import { type PackFiles, readPackArchive } from '../archive/read-archive.ts';
import { writePackArchive } from '../archive/write-archive.ts';
import type { PackManifest } from '../manifest/manifest-schema.ts';
import { readManifest } from '../manifest/read-manifest.ts';
import { PackError } from '../pack-error.ts';
import { isSignedBy, publicKeyOf, publicKeyPem, publicKeyText, signBytes } from './ed25519.ts';

const SIGNATURE_FILE = 'pack.json.sig';
const KID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export interface SignedPack {
  readonly archive: Uint8Array;
  /** Over the bytes of the archive; kept next to it. */
  readonly signature: Uint8Array;
}

/**
 * Signs twice. Inside, as the protocol has it: `pack.json.sig` over the bytes of `pack.json`, which says nothing about the code.
 * Next to the archive: a signature over all of its bytes, which decides trust.
 */
export async function signPack(archive: Uint8Array, key: KeyObject, kid: string): Promise<SignedPack> {
  if (!KID.test(kid))
    throw new PackError('keychain_invalid', `${JSON.stringify(kid)} is no name of a key, such as acme-2026.`);
  const files = new Map(await readPackArchive(archive));
  const manifest = readManifest(fileOf(files, MANIFEST_FILE));
  for (const old of signingFiles(manifest)) files.delete(old);
  const publicKeyRef = `keys/${kid}.pem`;
  const signing = { publicKeyRef, signatureRef: SIGNATURE_FILE, method: 'manual' } as const;
  const text = Buffer.from(manifestText({ ...manifest, signing }));
  files.set(MANIFEST_FILE, text);
  files.set(publicKeyRef, Buffer.from(publicKeyPem(key)));
  files.set(SIGNATURE_FILE, signBytes(text, key));
  const signed = writePackArchive(files);
  return { archive: signed, signature: signBytes(signed, key) };
}

export function manifestText(manifest: PackManifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function signingFiles({ signing }: PackManifest): string[] {
  return signing === undefined ? [] : [signing.publicKeyRef, signing.signatureRef];
}

function fileOf(files: PackFiles, name: string): Uint8Array {
  const bytes = files.get(name);
  if (bytes === undefined)
    throw new PackError('signature_invalid', `The manifest names ${name}, which is not in the archive.`);
  return bytes;
}

/** Whether what the manifest says about its own signature is true. `publicKey`: who signed the archive. Throws PackError. */
export function checkInnerSignature(
  files: PackFiles,
  manifest: PackManifest,
  publicKey: string | undefined,
): void {
  const { signing } = manifest;
  if (signing === undefined) return;
  if (signing.method !== 'manual')
    throw new PackError(
      'signature_invalid',
      `signing.method is ${signing.method}, which this host cannot check. Sign the pack with: weft pack sign`,
    );
  const pem = new TextDecoder().decode(fileOf(files, signing.publicKeyRef));
  const key = publicKeyOf(pem, signing.publicKeyRef);
  if (!isSignedBy(fileOf(files, MANIFEST_FILE), fileOf(files, signing.signatureRef), key))
    throw new PackError('signature_invalid', `${signing.signatureRef} does not fit ${MANIFEST_FILE}.`);
  if (publicKey !== undefined && publicKeyText(key) !== publicKey)
    throw new PackError('signature_invalid', 'The archive and its manifest are signed by different keys.');
}

/** The signature that the manifest names, and whose it says to be. */
export function innerSignature(
  files: PackFiles,
  { signing }: PackManifest,
): { readonly publicKey: string; readonly signature: Uint8Array } | undefined {
  if (signing === undefined) return undefined;
  return {
    publicKey: new TextDecoder().decode(fileOf(files, signing.publicKeyRef)),
    signature: fileOf(files, signing.signatureRef),
  };
}
