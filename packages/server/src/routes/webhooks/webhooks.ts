import type { CreatedWebhook, NewWebhook, RegisteredWebhook } from '@weft/engine';
import { HostError, type Json, operationOf, RegisterWebhookSchema, route, toIso } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { idempotencyOf, replayOf } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { queryOf, textParam } from '../../http/query.ts';

const REGISTER = operationOf(route('registerWebhook'));
const UNREGISTER = operationOf(route('unregisterWebhook'));
const parseWebhook = bodyParser(RegisterWebhookSchema);

/** Webhooks of the caller's tenant. The secret is in the answer that registers one and nowhere else. */
export const webhookRoutes: Routes = (serve, context) => {
  serve.everywhere('registerWebhook', {}, async (call) => {
    const body = call.body as Json | undefined;
    const { url, events, tags, tenantId } = parseWebhook(body);
    const wanted: NewWebhook = {
      url,
      events,
      tags: tags ?? [],
      ...(tenantId === undefined ? {} : { tenantId }),
    };
    const claim = idempotencyOf(call, {
      operation: REGISTER,
      target: [],
      body: body ?? null,
      render: (outcome: RegisteredWebhook) => ({ status: 201, body: JSON.stringify(outcome) }),
    });
    const answer = await context.host.webhooks.register(callerOf(call), wanted, claim);
    return answer.replayed ? replayOf(answer) : { status: 201, body: JSON.stringify(shown(answer)) };
  });

  serve.everywhere('unregisterWebhook', {}, async (call) => {
    const caller = callerOf(call);
    const webhookId = pathParam(call, 'webhookId');
    const tenantId = textParam(queryOf(call), 'tenantId');
    const claim = idempotencyOf(call, {
      operation: UNREGISTER,
      target: [webhookId],
      body: null,
      render: () => ({ status: 204, body: '' }),
    });
    const answer = await context.host.once(caller, claim, async () => {
      if (await context.host.webhooks.remove(caller, webhookId, tenantId)) return null;
      throw new HostError('subscription_not_found', 'No webhook with this id belongs to this tenant.');
    });
    return answer.replayed ? replayOf(answer) : { status: 204, body: '' };
  });

  serve('listWebhooks', async (request, reply) => {
    const webhooks = await context.host.webhooks.list(callerOf(request));
    return sendJson(
      reply,
      200,
      JSON.stringify({ webhooks: webhooks.map((row) => ({ ...row, createdAt: toIso(row.createdAt) })) }),
    );
  });

  serve('readCallbackSecret', async (request, reply) => {
    return sendJson(
      reply,
      200,
      JSON.stringify(await context.host.webhooks.callbackSecret(callerOf(request))),
    );
  });
};

function shown({ replayed: _replayed, ...webhook }: CreatedWebhook): object {
  return webhook;
}
