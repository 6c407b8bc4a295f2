import { createHmac } from 'node:crypto';
import { sha256Hex } from '../../crypto/hash.ts';
import type { RandomBytes } from '../runs/ids.ts';

/** The protocol's signature scheme v1: an HMAC over the time of signing and the exact bytes of the body. */
export const SIGNATURE_ALGORITHM = 'v1';

export interface Signed {
  readonly webhookId: string;
  readonly eventType: string;
  readonly body: string;
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** 64 hex characters. The text itself, not the bytes it stands for, is the key of the HMAC. */
export function newSigningSecret(random: RandomBytes): string {
  return Buffer.from(random(32)).toString('hex');
}

/** Names a secret without showing it. */
export function secretFingerprint(secret: string): string {
  return sha256Hex(secret).slice(0, 8);
}

/** Every value stands under the first release's name and under its later twin. */
export function signedHeaders({ webhookId, eventType, body, secret, now }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  const facts = {
    'webhook-id': webhookId,
    'event-type': eventType,
    timestamp,
    signature: signatureOf(secret, timestamp, body),
    'signature-algorithm': SIGNATURE_ALGORITHM,
  };
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(facts)) {
    headers[`x-openwop-${name}`] = value;
    headers[`openwop-${name}`] = value;
  }
  return headers;
}

export function signatureOf(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`, 'utf8').digest('hex')}`;
}
