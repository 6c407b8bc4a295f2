/** What makes one intended effect different from every other, on every attempt and after every crash the same. */
export interface Invocation {
  readonly tenant: string;
  readonly runId: string;
  /** The node key: inside loops it names the iteration too. */
  readonly nodeId: string;
  /** Counts the effects inside one execution of the node, from 0; a retry does not raise it. */
  readonly ordinal: number;
  readonly providerKey: string;
}

const DOMAIN = 'openwop:activity:v2';
const NUL = '\0';

/**
 * The id a provider gets as its idempotency key. The hash, as unpadded base64url, comes in, because the core imports no
 * platform module.
 */
export function invocationId(invocation: Invocation, sha256: (text: string) => string): string {
  const { tenant, runId, nodeId, ordinal, providerKey } = invocation;
  // Parts are joined by NUL: one inside a part would let two different effects share an id.
  if (tenant.includes(NUL) || runId.includes(NUL) || nodeId.includes(NUL) || providerKey.includes(NUL))
    throw new TypeError('A part of an invocation id must not contain NUL.');
  return sha256(`${DOMAIN}\0${tenant}\0${runId}\0${nodeId}\0${ordinal}\0${providerKey}`);
}
