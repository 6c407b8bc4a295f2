import type { Caller, Host } from '@weft/engine';

/** A key for the processes next to a host: it may serve node types and nothing else, and ends with the host. */
export interface NodesKey {
  readonly key: string;
  revoke(): Promise<void>;
}

const LABEL = 'serve --nodes';

/** One that an earlier start could not revoke, because it was killed, is revoked now; unless other processes share the store. */
export async function makeNodesKey(
  { keys }: Pick<Host, 'keys'>,
  caller: Caller,
  { isShared }: { readonly isShared: boolean },
): Promise<NodesKey> {
  if (!isShared) {
    for (const { keyId, label, revokedAt } of await keys.list(caller))
      if (label === LABEL && revokedAt === undefined) await keys.revoke(caller, keyId);
  }
  const created = await keys.create(caller, {
    principal: caller.principal,
    kind: caller.kind,
    scopes: ['workers:serve'],
    label: LABEL,
  });
  if (created.replayed) throw new Error('a key without an idempotency key is never replayed');
  return {
    key: created.key,
    revoke: async () => void (await keys.revoke(caller, created.row.keyId)),
  };
}
