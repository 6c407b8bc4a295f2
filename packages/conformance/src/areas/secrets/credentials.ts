import { randomBytes } from 'node:crypto';

/** Texts of the shapes that credentials have, which hosts must recognize and mask. None of them is a key of anyone. */

/** A provider's key. */
export function credential(): string {
  return `sk-${hex(24)}`;
}

/** One of each shape. */
export function credentials(): Readonly<Record<string, string>> {
  const part = (object: object): string => Buffer.from(JSON.stringify(object)).toString('base64url');
  return {
    providerKey: credential(),
    otherProviderKey: `sk-ant-api03-${hex(24)}`,
    cloudKey: `AIza${hex(18).slice(0, 35)}`,
    bearer: `${part({ alg: 'HS256' })}.${part({ sub: hex(6) })}.${hex(24)}`,
    reference: `cred_${hex(16)}`,
  };
}

function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
