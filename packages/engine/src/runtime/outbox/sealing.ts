import type { Sealed, Sealer } from '../secrets/sealer.ts';

/** Encrypts signing secrets at rest, on hosts that have a key for it. */
export type Sealing = Pick<Sealer, 'seal' | 'open'>;

export type StoredSecret = { readonly plain: string } | { readonly sealed: Sealed };

/** Whose secret it is: a sealed one opens nowhere else. */
export interface SecretOwner {
  readonly tenant: string;
  readonly id: string;
}

const SCOPE = 'signing';

export function toStored(sealing: Sealing | undefined, owner: SecretOwner, secret: string): StoredSecret {
  return sealing === undefined
    ? { plain: secret }
    : { sealed: sealing.seal({ ...owner, scope: SCOPE }, secret) };
}

/** Throws when the secret was sealed and the host has no key, or another one. */
export function fromStored(sealing: Sealing | undefined, owner: SecretOwner, stored: StoredSecret): string {
  if ('plain' in stored) return stored.plain;
  const secret = sealing?.open({ ...owner, scope: SCOPE }, stored.sealed);
  if (secret === undefined)
    throw new Error('The signing secret was sealed with a key this host does not have.');
  return secret;
}
