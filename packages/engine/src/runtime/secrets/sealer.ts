import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { RandomBytes } from '../runs/ids.ts';

/**
 * Encrypts secrets with AES-256-GCM. The place a secret belongs to is authenticated with it, so that a row copied to another
 * tenant, user or id does not open there.
 */
export interface Sealer {
  /** Names the key without revealing it. */
  readonly keyId: string;
  seal(place: SealedPlace, value: string): Sealed;
  /** Undefined when the text was sealed with another key, for another place, or was changed since. */
  open(place: SealedPlace, sealed: Sealed): string | undefined;
  /** A digest that no one without the key can find by trying values. */
  digest(text: string): string;
}

export interface SealedPlace {
  readonly tenant: string;
  readonly scope: string;
  readonly id: string;
}

export interface Sealed {
  readonly keyId: string;
  /** base64url */
  readonly nonce: string;
  /** base64url: ciphertext, then the tag. */
  readonly text: string;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = 'aes-256-gcm';

export function createSealer(key: Uint8Array, random: RandomBytes): Sealer {
  if (key.length !== KEY_BYTES) throw new Error(`secretsKey must be ${KEY_BYTES} bytes, not ${key.length}.`);
  const keyId = derived(key, 'key-id').slice(0, 16);
  const digestKey = derived(key, 'digest');
  return {
    keyId,
    seal(place, value) {
      const nonce = Buffer.from(random(NONCE_BYTES));
      const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(aad(place));
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return { keyId, nonce: nonce.toString('base64url'), text: text.toString('base64url') };
    },
    open(place, sealed) {
      const nonce = Buffer.from(sealed.nonce, 'base64url');
      const text = Buffer.from(sealed.text, 'base64url');
      if (sealed.keyId !== keyId || nonce.length !== NONCE_BYTES || text.length < TAG_BYTES) return undefined;
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(aad(place));
      decipher.setAuthTag(text.subarray(text.length - TAG_BYTES));
      try {
        const start = decipher.update(text.subarray(0, text.length - TAG_BYTES));
        return Buffer.concat([start, decipher.final()]).toString('utf8');
      } catch {
        return undefined; // the tag does not fit: changed, or sealed for another place
      }
    },
    digest: (text) => createHmac('sha256', digestKey).update(text, 'utf8').digest('hex'),
  };
}

function aad({ tenant, scope, id }: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify(['weft.secret', 1, tenant, scope, id]), 'utf8');
}

function derived(key: Uint8Array, purpose: string): string {
  return createHmac('sha256', key).update(`weft.secret.${purpose}`, 'utf8').digest('hex');
}
