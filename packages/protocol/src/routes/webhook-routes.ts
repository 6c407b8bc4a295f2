import { Type } from 'typebox';
import { describeRoutes, IDEMPOTENCY_ERRORS, IDEMPOTENCY_KEY, PAGE } from './route-description.ts';
import { name } from '../documents/schema-parts.ts';
import {
  CallbackSecretSchema,
  DeliveryListSchema,
  RegisteredWebhookSchema,
  RegisterWebhookSchema,
  WebhookListSchema,
} from '../documents/webhooks.ts';

/** Webhooks as the protocol defines them. */
export const WEBHOOK_ROUTES = describeRoutes({
  registerWebhook: {
    scope: 'webhooks:manage',
    summary: 'Has events of the tenant’s runs sent to a URL, signed with a secret that is shown once.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: RegisterWebhookSchema, required: true },
    responses: { 201: { description: 'Registered; deliveries begin.', schema: RegisteredWebhookSchema } },
    errors: [
      'validation_error',
      ...IDEMPOTENCY_ERRORS,
      'webhook_url_rejected',
      'conflict',
      'payload_too_large',
    ],
  },
  unregisterWebhook: {
    scope: 'webhooks:manage',
    summary: 'Removes a webhook; deliveries stop at once.',
    query: [{ name: 'tenantId', description: 'Default: the key’s own.', schema: name }],
    headers: [IDEMPOTENCY_KEY],
    responses: { 204: { description: 'Removed.' } },
    errors: ['validation_error', ...IDEMPOTENCY_ERRORS, 'subscription_not_found'],
  },
});

/** What Weft adds to them under its own prefix. */
export const DELIVERY_ROUTES = describeRoutes({
  listWebhooks: {
    scope: 'webhooks:manage',
    summary: 'The webhooks of the caller’s tenant, without their secrets.',
    responses: { 200: { description: 'All webhooks.', schema: WebhookListSchema } },
    errors: [],
  },
  readCallbackSecret: {
    scope: 'webhooks:manage',
    summary: 'The secret with which the tenant’s callbacks are signed.',
    responses: { 200: { description: 'The secret.', schema: CallbackSecretSchema } },
    errors: [],
  },
  listDeliveries: {
    scope: 'webhooks:manage',
    summary: 'Callbacks and webhook deliveries that were given up, newest first.',
    query: [
      {
        name: 'state',
        description: 'Only "dead" is listed, which is the default.',
        schema: Type.Literal('dead'),
      },
      ...PAGE,
    ],
    responses: { 200: { description: 'A page of deliveries.', schema: DeliveryListSchema } },
    errors: ['validation_error'],
  },
  replayDelivery: {
    scope: 'webhooks:manage',
    summary: 'Tries a dead delivery again, from its first attempt.',
    headers: [IDEMPOTENCY_KEY],
    responses: { 202: { description: 'It will be tried now.' } },
    errors: ['validation_error', ...IDEMPOTENCY_ERRORS],
  },
});
