/** The keys of a namespace in a registry. They are only ever added: what an older one signed stays what it was. */
import type { Json, JsonObject } from '@weft/protocol';
import { PackError } from '../pack-error.ts';
import { type KeyDocument, keyDocumentOf, proves, trustedKeys } from '../signing/trust.ts';

/** `vendor.acme` of `vendor.acme.payments`. */
export function namespaceOf(name: string): string {
  return name.split('.').slice(0, 2).join('.');
}

/**
 * The keys with one more. The first comes from a caller who may write to the namespace; each one after it is signed by one of those before.
 * Throws `keychain_invalid`.
 */
export function addKey(keys: readonly KeyDocument[], given: JsonObject): readonly KeyDocument[] {
  const { kid, algorithm, publicKey, validFrom, validUntil, rotationProof, ...others } = given;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined)
    throw new PackError('keychain_invalid', `A key has no member ${JSON.stringify(unknown)}.`);
  const candidate: Record<string, Json | undefined> = {
    kid,
    algorithm,
    publicKey,
    validFrom,
    validUntil,
    rotationProof,
  };
  for (const [name, value] of Object.entries(candidate)) if (value === undefined) delete candidate[name];
  const key = keyDocumentOf(candidate);
  const older = keys.find((each) => proves(each, key));
  if (keys.length > 0 && older === undefined)
    throw new PackError(
      'keychain_invalid',
      'rotationProof is not a signature by one of the keys before over kid, publicKey and validFrom.',
    );
  const added = older === undefined ? key : { ...key, rotatedFrom: older.kid };
  const all = [...keys.map((each) => (each === older ? { ...each, rotatedTo: key.kid } : each)), added];
  trustedKeys('the namespace', all);
  return all;
}
