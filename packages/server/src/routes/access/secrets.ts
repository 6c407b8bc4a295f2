import type { SecretScope, SecretSummary } from '@weft/engine';
import {
  HostError,
  type Json,
  operationOf,
  route,
  SECRET_SCOPES,
  SetSecretSchema,
  toIso,
} from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { idempotencyOf, REPLAY_HEADER, sendReplay } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { type Query, queryOf, textParam } from '../../http/query.ts';

const SET = operationOf(route('setSecret'));
const REMOVE = operationOf(route('removeSecret'));
const parseSecret = bodyParser(SetSecretSchema);

/** Secrets of the caller's tenant, and the caller's own. A value goes in and never comes out again. */
export const secretRoutes: Routes = (serve, context) => {
  serve('setSecret', async (request, reply) => {
    const body = request.body as Json | undefined;
    const { id, value, scope = 'tenant' } = parseSecret(body);
    const claim = idempotencyOf(request, {
      operation: SET,
      target: [],
      body: body ?? null,
      render: (outcome: SecretSummary) => ({ status: 200, body: shown(outcome) }),
    });
    const answer = await context.host.secrets.set(callerOf(request), { id, value, scope }, claim);
    if (answer.replayed) return sendReplay(reply, answer);
    return sendJson(reply, 200, shown(answer.secret));
  });

  serve('listSecrets', async (request, reply) => {
    const secrets = await context.host.secrets.list(callerOf(request));
    return sendJson(reply, 200, JSON.stringify({ secrets: secrets.map(document) }));
  });

  serve('removeSecret', async (request, reply) => {
    const caller = callerOf(request);
    const secretId = pathParam(request, 'secretId');
    const scope = scopeOf(queryOf(request));
    const claim = idempotencyOf(request, {
      operation: REMOVE,
      target: [secretId, scope],
      body: null,
      render: () => ({ status: 204, body: '' }),
    });
    const answer = await context.host.once(caller, claim, async () => {
      if (await context.host.secrets.remove(caller, secretId, scope)) return null;
      throw new HostError('not_found', 'There is no secret with this id and scope.');
    });
    if (answer.replayed) reply.header(REPLAY_HEADER, 'true');
    return reply.code(204).send();
  });
};

function scopeOf(query: Query): SecretScope {
  const text = textParam(query, 'scope') ?? 'tenant';
  const scope = SECRET_SCOPES.find((known) => known === text);
  if (scope !== undefined) return scope;
  throw new HostError('validation_error', `"scope" must be one of ${SECRET_SCOPES.join(', ')}.`, {
    field: 'scope',
    allowed: [...SECRET_SCOPES],
  });
}

function document({ id, scope, createdAt, updatedAt, usable }: SecretSummary): object {
  return { id, scope, createdAt: toIso(createdAt), updatedAt: toIso(updatedAt), usable };
}

function shown(secret: SecretSummary): string {
  return JSON.stringify(document(secret));
}
