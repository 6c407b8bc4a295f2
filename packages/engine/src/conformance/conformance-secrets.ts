import type { SecretResolver } from '../ports/secrets.ts';

/** Secrets that the protocol's suite expects a test host to have. Their values open nothing. */
const CONFORMANCE_SECRETS: ReadonlyMap<string, string> = new Map([
  ['openwop-conformance-canary-secret', 'weft-test-host-canary-that-opens-nothing'],
  ['conformance-test-secret', 'weft-test-host-secret-that-opens-nothing'],
]);

/** For test hosts only: what is set goes first. */
export function withConformanceSecrets(resolver: SecretResolver): SecretResolver {
  return {
    async resolve(owner, secretId) {
      const resolution = await resolver.resolve(owner, secretId);
      const value = CONFORMANCE_SECRETS.get(secretId);
      if (value === undefined || resolution.state === 'resolved' || resolution.state === 'unreadable')
        return resolution;
      return { state: 'resolved', value };
    },
  };
}
