import type { NewTrigger, RetryPolicy, TriggerView } from '@weft/engine';
import {
  CreateTriggerSchema,
  HostError,
  type Json,
  operationOf,
  pathOf,
  RegisterTriggerSchema,
  route,
  TestTriggerSchema,
  toIso,
} from '@weft/protocol';
import type { FastifyRequest } from 'fastify';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { idempotencyOf, REPLAY_HEADER, sendReplay } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { pageOf } from '../page.ts';

const REGISTER = operationOf(route('registerTrigger'));
const CREATE = operationOf(route('createTrigger'));
const REMOVE = operationOf(route('removeTrigger'));
const parseRegistration = bodyParser(RegisterTriggerSchema);
const parseTrigger = bodyParser(CreateTriggerSchema);
const parseTest = bodyParser(TestTriggerSchema);

const SECRET_HEADER = 'weft-trigger-secret';
const DEFAULT_POLICY: RetryPolicy = { maxAttempts: 3, backoff: 'exponential' };

/** Webhook triggers of the caller's tenant. A secret is in the answer that makes one and nowhere else. */
export const triggerRoutes: Routes = (serve, { host, publicUrl }) => {
  const urlOf = (request: FastifyRequest, triggerId: string): string =>
    `${publicUrl(request)}${pathOf('ingestDelivery', { triggerId })}`;

  serve('registerTrigger', async (request, reply) => {
    const body = request.body as Json | undefined;
    const { source, workflowId, dedupEnabled, retryPolicy, verification, inputMapping } =
      parseRegistration(body);
    if (source !== 'webhook') throw notServed(source);
    if (verification?.mode !== undefined && verification.mode !== 'required') throw alwaysVerified();
    const wanted: NewTrigger = {
      workflowId,
      scheme: 'hmac',
      dedupEnabled: dedupEnabled ?? true,
      retryPolicy: { ...DEFAULT_POLICY, ...retryPolicy },
      ...(inputMapping !== undefined && { inputMapping }),
    };
    const render = (trigger: TriggerView) => JSON.stringify(registered(trigger, urlOf(request, trigger.id)));
    const claim = idempotencyOf(request, {
      operation: REGISTER,
      target: [],
      body: body ?? null,
      render: (outcome: TriggerView) => ({ status: 201, body: render(outcome) }),
    });
    const answer = await host.triggers.create(callerOf(request), wanted, claim);
    if (answer.replayed) return sendReplay(reply, answer);
    if (answer.secret !== undefined) reply.header(SECRET_HEADER, answer.secret);
    return sendJson(reply, 201, render(answer.trigger));
  });

  serve('createTrigger', async (request, reply) => {
    const body = request.body as Json | undefined;
    const { retryPolicy, scheme, dedupEnabled, ...given } = parseTrigger(body);
    const wanted: NewTrigger = {
      ...given,
      scheme: scheme ?? 'hmac',
      dedupEnabled: dedupEnabled ?? true,
      retryPolicy: { ...DEFAULT_POLICY, ...retryPolicy },
    };
    const render = (trigger: TriggerView, secret?: string) =>
      JSON.stringify({
        ...shown(trigger, urlOf(request, trigger.id)),
        ...(secret !== undefined && { secret }),
      });
    const claim = idempotencyOf(request, {
      operation: CREATE,
      target: [],
      body: body ?? null,
      render: (outcome: TriggerView) => ({ status: 201, body: render(outcome) }),
    });
    const answer = await host.triggers.create(callerOf(request), wanted, claim);
    if (answer.replayed) return sendReplay(reply, answer);
    return sendJson(reply, 201, render(answer.trigger, answer.secret));
  });

  serve('listTriggers', async (request, reply) => {
    const { rows, nextCursor } = await host.triggers.list(callerOf(request), pageOf(request));
    const triggers = rows.map((trigger) => shown(trigger, urlOf(request, trigger.id)));
    return sendJson(reply, 200, JSON.stringify({ triggers, nextCursor }));
  });

  for (const [operation, act] of [
    ['getTrigger', host.triggers.get],
    ['pauseTrigger', host.triggers.pause],
    ['resumeTrigger', host.triggers.resume],
  ] as const) {
    serve(operation, async (request, reply) => {
      const trigger = await act(callerOf(request), pathParam(request, 'triggerId'));
      if (trigger === undefined) throw missing();
      return sendJson(reply, 200, JSON.stringify(shown(trigger, urlOf(request, trigger.id))));
    });
  }

  serve('testTrigger', async (request, reply) => {
    const id = pathParam(request, 'triggerId');
    const { body, headers = {} } = parseTest(request.body);
    const inputs = await host.triggers.test(callerOf(request), id, { body, headers });
    if (inputs === undefined) throw missing();
    return sendJson(reply, 200, JSON.stringify({ inputs }));
  });

  serve('removeTrigger', async (request, reply) => {
    const caller = callerOf(request);
    const id = pathParam(request, 'triggerId');
    const claim = idempotencyOf(request, {
      operation: REMOVE,
      target: [id],
      body: null,
      render: () => ({ status: 204, body: '' }),
    });
    const answer = await host.once(caller, claim, async () => {
      if (await host.triggers.remove(caller, id)) return null;
      throw missing();
    });
    if (answer.replayed) reply.header(REPLAY_HEADER, 'true');
    return reply.code(204).send();
  });
};

function shown({ createdAt, changes, ...trigger }: TriggerView, ingestUrl: string): object {
  return {
    ...trigger,
    ingestUrl,
    createdAt: toIso(createdAt),
    changes: changes.map((change) => ({ ...change, at: toIso(change.at) })),
  };
}

function registered(trigger: TriggerView, ingestUrl: string): object {
  const { id, state, dedupEnabled, retryPolicy, secretFingerprint } = trigger;
  const fingerprint = secretFingerprint === undefined ? {} : { secretFingerprint };
  return {
    subscription: { subscriptionId: id, source: 'webhook', state, dedupEnabled, retryPolicy, ...fingerprint },
    binding: { ingestUrl, ...fingerprint },
  };
}

function missing(): HostError {
  return new HostError('not_found', 'No trigger with this id belongs to this tenant.');
}

function notServed(source: string): HostError {
  return new HostError(
    'capability_not_provided',
    `This host takes no deliveries by ${source}; use webhook.`,
    {
      capability: `triggerBridge.ingestion.${source}`,
      field: 'source',
    },
  );
}

function alwaysVerified(): HostError {
  return new HostError(
    'validation_error',
    'This host starts nothing that is not verified; leave verification out, or use required.',
    { field: 'verification.mode', supported: ['required'] },
  );
}
