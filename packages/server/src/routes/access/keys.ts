import type { NewKey, PublicKey } from '@weft/engine';
import { CreateKeySchema, HostError, type Json, operationOf, route, toIso } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { idempotencyOf, REPLAY_HEADER, sendReplay } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { queryOf, textParam } from '../../http/query.ts';

const OPERATION = operationOf(route('createKey'));
const ROTATE = operationOf(route('rotateLinkKey'));
const REVOKE = operationOf(route('revokeKey'));
const parseNewKey = bodyParser(CreateKeySchema);

/** API keys of the caller's tenant. The key itself is in the answer that creates it and nowhere else. */
export const keyRoutes: Routes = (serve, context) => {
  serve('createKey', async (request, reply) => {
    const body = request.body as Json | undefined;
    const { expiresAt, ...asked } = parseNewKey(body);
    const wanted: NewKey = {
      ...asked,
      ...(expiresAt === undefined ? {} : { expiresAt: Date.parse(expiresAt) }),
    };
    const claim = idempotencyOf(request, {
      operation: OPERATION,
      target: [],
      body: body ?? null,
      // A repeat shows everything but the key, which is shown once.
      render: (outcome: PublicKey) => ({ status: 201, body: JSON.stringify(shown(outcome)) }),
    });
    const created = await context.host.keys.create(callerOf(request), wanted, claim);
    if (created.replayed) return sendReplay(reply, created);
    return sendJson(reply, 201, JSON.stringify({ key: created.key, ...shown(created.row) }));
  });

  serve('listKeys', async (request, reply) => {
    const rows = await context.host.keys.list(callerOf(request), textParam(queryOf(request), 'tenant'));
    return sendJson(reply, 200, JSON.stringify({ keys: rows.map(shown) }));
  });

  serve('revokeKey', async (request, reply) => {
    const caller = callerOf(request);
    const keyId = pathParam(request, 'keyId');
    const tenant = textParam(queryOf(request), 'tenant');
    const claim = idempotencyOf(request, {
      operation: REVOKE,
      target: [keyId, ...(tenant === undefined ? [] : [tenant])],
      body: null,
      render: () => ({ status: 204, body: '' }),
    });
    const answer = await context.host.once(caller, claim, async () => {
      if (await context.host.keys.revoke(caller, keyId, tenant)) return null;
      throw new HostError('not_found', 'No key with this id belongs to this tenant.');
    });
    if (answer.replayed) reply.header(REPLAY_HEADER, 'true');
    return reply.code(204).send();
  });

  serve('rotateLinkKey', async (request, reply) => {
    const caller = callerOf(request);
    const render = (outcome: Json) => ({ status: 200, body: JSON.stringify(outcome) });
    const claim = idempotencyOf(request, { operation: ROTATE, target: [], body: null, render });
    const answer = await context.host.once(caller, claim, async () => {
      const { since, ...key } = await context.host.keys.rotateLinks(caller);
      return { ...key, since: toIso(since) };
    });
    if (answer.replayed) return sendReplay(reply, answer);
    return sendJson(reply, 200, render(answer.outcome).body);
  });
};

/** Everything about a key except its hash, times as text. */
function shown({ createdAt, expiresAt, revokedAt, ...row }: PublicKey): object {
  return {
    keyId: row.keyId,
    tenant: row.tenant,
    principal: row.principal,
    ...(row.workspace === undefined ? {} : { workspace: row.workspace }),
    kind: row.kind,
    test: row.test,
    scopes: row.scopes,
    ...(row.label === undefined ? {} : { label: row.label }),
    createdAt: toIso(createdAt),
    ...(expiresAt === undefined ? {} : { expiresAt: toIso(expiresAt) }),
    ...(revokedAt === undefined ? {} : { revokedAt: toIso(revokedAt) }),
  };
}
