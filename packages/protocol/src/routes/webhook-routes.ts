import { Type } from 'typebox';
import type { Parameter, Route } from './routes.ts';
import { name } from '../documents/schema-parts.ts';
import {
  CallbackSecretSchema,
  DeliveryListSchema,
  RegisteredWebhookSchema,
  RegisterWebhookSchema,
  WebhookListSchema,
} from '../documents/webhooks.ts';

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  description: 'The same key with the same content gets the first answer again, for 24 hours.',
  schema: Type.String({ minLength: 1, maxLength: 255 }),
};

const IDEMPOTENCY_ERRORS = ['validation_error', 'idempotency_in_flight', 'idempotency_key_mismatch'] as const;

/** Webhooks as the protocol defines them. */
export const WEBHOOK_ROUTES: readonly Route[] = [
  {
    operationId: 'registerWebhook',
    method: 'POST',
    path: '/v1/webhooks',
    scope: 'webhooks:manage',
    summary: 'Has events of the tenant’s runs sent to a URL, signed with a secret that is shown once.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: RegisterWebhookSchema, required: true },
    responses: { 201: { description: 'Registered; deliveries begin.', schema: RegisteredWebhookSchema } },
    errors: [...IDEMPOTENCY_ERRORS, 'webhook_url_rejected', 'conflict', 'payload_too_large'],
  },
  {
    operationId: 'unregisterWebhook',
    method: 'DELETE',
    path: '/v1/webhooks/{webhookId}',
    scope: 'webhooks:manage',
    summary: 'Removes a webhook; deliveries stop at once.',
    query: [{ name: 'tenantId', description: 'Default: the key’s own.', schema: name }],
    headers: [IDEMPOTENCY_KEY],
    responses: { 204: { description: 'Removed.' } },
    errors: [...IDEMPOTENCY_ERRORS, 'subscription_not_found'],
  },
];

/** What Weft adds to them under its own prefix. */
export const DELIVERY_ROUTES: readonly Route[] = [
  {
    operationId: 'listWebhooks',
    method: 'GET',
    path: '/v1/host/weft/webhooks',
    scope: 'webhooks:manage',
    summary: 'The webhooks of the caller’s tenant, without their secrets.',
    responses: { 200: { description: 'All webhooks.', schema: WebhookListSchema } },
    errors: [],
  },
  {
    operationId: 'readCallbackSecret',
    method: 'GET',
    path: '/v1/host/weft/callback-secret',
    scope: 'webhooks:manage',
    summary: 'The secret with which the tenant’s callbacks are signed.',
    responses: { 200: { description: 'The secret.', schema: CallbackSecretSchema } },
    errors: [],
  },
  {
    operationId: 'listDeliveries',
    method: 'GET',
    path: '/v1/host/weft/deliveries',
    scope: 'webhooks:manage',
    summary: 'Callbacks and webhook deliveries that were given up, newest first.',
    query: [
      {
        name: 'state',
        description: 'Only "dead" is listed, which is the default.',
        schema: Type.Literal('dead'),
      },
      {
        name: 'limit',
        description: 'Rows in one answer. Default: 50.',
        schema: Type.Integer({ minimum: 1, maximum: 500 }),
      },
      { name: 'cursor', description: 'The nextCursor of the answer before.', schema: name },
    ],
    responses: { 200: { description: 'A page of deliveries.', schema: DeliveryListSchema } },
    errors: ['validation_error'],
  },
  {
    operationId: 'replayDelivery',
    method: 'POST',
    path: '/v1/host/weft/deliveries/{deliveryId}:replay',
    scope: 'webhooks:manage',
    summary: 'Tries a dead delivery again, from its first attempt.',
    headers: [IDEMPOTENCY_KEY],
    responses: { 202: { description: 'It will be tried now.' } },
    errors: IDEMPOTENCY_ERRORS,
  },
];
