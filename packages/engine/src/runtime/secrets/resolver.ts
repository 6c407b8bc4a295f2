import type { RandomBytes } from '../runs/ids.ts';
import type { SecretResolver } from '../../ports/secrets.ts';
import type { Documents } from '../../ports/store.ts';
import { type Sealed, type Sealer, createSealer } from './sealer.ts';

/** How a secret is kept: a document of this collection, under the scope of its owner. */
export const SECRETS = 'secret';
export const TENANT_SCOPE = '';

export interface SealedSecret extends Sealed {
  readonly createdAt: number;
  readonly by: string;
}

export const SECRET_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export function userScope(principal: string): string {
  return `user:${principal}`;
}

/** Absent key: the feature is off. */
export function openSealer(key: Uint8Array | undefined, random: RandomBytes): Sealer | undefined {
  return key === undefined ? undefined : createSealer(key, random);
}

/** Secrets that the host keeps itself, encrypted. A user's own one goes before the tenant's. */
export function createLocalResolver(store: Documents, sealer: Sealer | undefined): SecretResolver {
  return {
    async resolve({ tenant, principal }, secretId) {
      if (sealer === undefined) return { state: 'off' };
      const scopes = principal === undefined ? [TENANT_SCOPE] : [userScope(principal), TENANT_SCOPE];
      for (const scope of scopes) {
        const document = await store.readDocument({ tenant, collection: SECRETS, scope, id: secretId });
        if (document === undefined) continue;
        const sealed = JSON.parse(document.body) as SealedSecret;
        const value = sealer.open({ tenant, scope, id: secretId }, sealed);
        return value === undefined ? { state: 'unreadable' } : { state: 'resolved', value };
      }
      return { state: 'missing' };
    },
  };
}
