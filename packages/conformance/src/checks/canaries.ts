import { randomBytes } from 'node:crypto';

/** A text of the shape of a provider's key, which hosts must recognize and mask. It is no key of anyone. */
export function credential(): string {
  return `sk-${randomBytes(24).toString('hex')}`;
}
