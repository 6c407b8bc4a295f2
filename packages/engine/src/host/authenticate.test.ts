import { expect, it } from 'vitest';
import type { Authenticate } from '../ports/authenticate.ts';
import { alice, startHost } from '../runtime/testing/test-host.ts';

/** Knows the credentials of one identity provider. */
const byToken: Authenticate = async (credential) => {
  if (credential === 'token of bob') return { state: 'ok', caller: { ...alice, principal: 'bob' } };
  return { state: credential.startsWith('token') ? 'expired' : 'unknown' };
};

it('a host asks the given authentication first, and its API keys about what that does not know', async () => {
  const { host } = await startHost({ authenticate: byToken });
  const created = await host.keys.create(alice, {
    principal: 'alice',
    kind: 'service',
    scopes: ['runs:read'],
  });
  const key = created.replayed ? '' : created.key;

  const answers = await Promise.all(
    ['token of bob', 'token of old', key, 'something else'].map(host.authenticate),
  );
  await host.stop(0);

  expect(answers).toMatchObject([
    { state: 'ok', caller: { principal: 'bob' } },
    { state: 'expired' },
    { state: 'ok', caller: { principal: 'alice' } },
    { state: 'unknown' },
  ]);
});
