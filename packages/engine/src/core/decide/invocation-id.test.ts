import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Invocation, invocationId } from './invocation-id.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');
const sample: Invocation = {
  tenant: 'acme',
  runId: 'r1',
  nodeId: 'call[2]',
  ordinal: 0,
  providerKey: 'core.http.request',
};

describe('invocationId', () => {
  it('is the unpadded base64url of SHA-256 over the NUL-joined parts', () => {
    const hash = createHash('sha256');
    hash.update('openwop:activity:v2');
    for (const part of ['acme', 'r1', 'call[2]', '0', 'core.http.request']) {
      hash.update(Buffer.from([0]));
      hash.update(part);
    }

    expect(invocationId(sample, sha256)).toBe(hash.digest('base64url'));
    expect(invocationId(sample, sha256)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('differs as soon as one part differs', () => {
    const others: Partial<Invocation>[] = [
      { tenant: 'other' },
      { runId: 'r2' },
      { nodeId: 'call[3]' },
      { ordinal: 1 },
      { providerKey: 'x' },
    ];

    const ids = [{}, ...others].map((change) => invocationId({ ...sample, ...change }, sha256));

    expect(new Set(ids).size).toBe(ids.length);
  });

  it('refuses a part with NUL, which could imitate another invocation', () => {
    expect(() => invocationId({ ...sample, tenant: 'acme\0r1' }, sha256)).toThrow('must not contain NUL');
  });
});
