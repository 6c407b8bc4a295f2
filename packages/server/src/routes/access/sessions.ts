import type { Caller } from '@weft/engine';
import { HostError, isHostError, OpenSessionSchema, toIso } from '@weft/protocol';
import { callerOf, type Routes, sendJson } from '../../app-context.ts';
import { checkSameOrigin } from '../../http/allowed-host.ts';
import { addressOf } from '../../http/client-address.ts';
import { bodyParser } from '../../http/parse-body.ts';

const parseOpenSession = bodyParser(OpenSessionSchema);

/** Sign-in by a link, and who is signed in. */
export const sessionRoutes: Routes = (serve, context) => {
  serve('createSignInCode', async (request, reply) => {
    const { code, expiresAt } = await context.host.sessions.createCode(callerOf(request));
    return sendJson(reply, 201, JSON.stringify({ code, expiresAt: toIso(expiresAt) }));
  });

  serve(
    'openSession',
    {
      before: async (call) => {
        context.checkHost(call);
        checkSameOrigin(call);
        context.attempts.check(call);
      },
    },
    async (request, reply) => {
      const { code } = parseOpenSession(request.body);
      try {
        const { key, caller } = await context.host.sessions.open(code, addressOf(request));
        return sendJson(reply, 201, JSON.stringify({ key, ...holderOf(caller) }));
      } catch (error) {
        // Guesses at codes count like guesses at keys.
        if (isHostError(error, 'sign_in_code_invalid')) context.attempts.count(request);
        throw error;
      }
    },
  );

  serve('getSession', (request, reply) => sendJson(reply, 200, JSON.stringify(holderOf(callerOf(request)))));

  serve('endSession', async (request, reply) => {
    if (await context.host.sessions.end(callerOf(request))) return reply.code(204).send();
    throw new HostError('conflict', 'This is an API key and no session; revoke it to end it.');
  });
};

function holderOf({ tenant, principal, workspace, keyId, kind, scopes, expiresAt }: Caller): object {
  return {
    tenant,
    principal,
    ...(workspace !== undefined && { workspace }),
    keyId,
    kind,
    scopes: [...scopes].sort(),
    ...(expiresAt !== undefined && { expiresAt: toIso(expiresAt) }),
  };
}
