import { type Static, Type } from 'typebox';
import { closed, count, dateTime, name, nameOf, nonEmpty, open, runId, uri } from './schema-parts.ts';

/** Webhooks: how they are registered, listed and removed, and what could not be delivered. */

const optional = Type.Optional;
const tags = Type.Array(nameOf({ minLength: 1, maxLength: 256 }), { maxItems: 100 });

export const RegisterWebhookSchema = closed({
  url: uri,
  events: Type.Array(name, {
    minItems: 1,
    maxItems: 200,
    description: 'Event types of the protocol; "*" stands for all of them.',
  }),
  tenantId: optional(name),
  tags: optional(tags),
});

const signingFields = {
  secretFingerprint: Type.String({
    pattern: '^[0-9a-f]{8}$',
    description: 'The first 8 hex characters of the secret’s SHA-256.',
  }),
  signatureAlgorithm: nonEmpty,
};

export const RegisteredWebhookSchema = open({
  webhookId: nonEmpty,
  secret: optional(
    Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'Shown once; a repeated request does not get it again.',
    }),
  ),
  ...signingFields,
});

export const WebhookListSchema = open({
  webhooks: Type.Array(
    open({
      webhookId: nonEmpty,
      url: uri,
      events: Type.Array(nonEmpty),
      tags,
      secretFingerprint: signingFields.secretFingerprint,
      createdAt: dateTime,
      createdBy: nonEmpty,
    }),
  ),
});

export const CallbackSecretSchema = open({
  secret: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  ...signingFields,
});

/** A delivery that has failed for the last time. */
export const DeadDeliverySchema = open({
  deliveryId: nonEmpty,
  kind: Type.Enum(['webhook', 'callback', 'push']),
  webhookId: optional(nonEmpty),
  runId,
  sequence: count,
  attempts: count,
  reason: nonEmpty,
  failedAt: dateTime,
});

export const DeliveryListSchema = open({
  deliveries: Type.Array(DeadDeliverySchema),
  nextCursor: optional(Type.String({ description: 'Absent on the last page.' })),
});

export type DeadDelivery = Static<typeof DeadDeliverySchema>;
export type RegisterWebhookRequest = Static<typeof RegisterWebhookSchema>;
