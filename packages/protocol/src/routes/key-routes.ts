import { Type } from 'typebox';
import {
  CreatedKeySchema,
  CreateKeySchema,
  KeyListSchema,
  RotatedLinkKeySchema,
} from '../documents/host-extension.ts';
import type { Parameter, Route } from './routes.ts';
import { nameOf } from '../documents/schema-parts.ts';

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  description: 'The same key with the same content gets the first answer again, for 24 hours.',
  schema: Type.String({ minLength: 1, maxLength: 255 }),
};

const TENANT: Parameter = {
  name: 'tenant',
  description: 'Default: the caller’s own. Another one needs host:admin.',
  schema: nameOf({ minLength: 1, maxLength: 128 }),
};

/** Keys of callers, and the key that signs interrupt links. */
export const KEY_ROUTES: readonly Route[] = [
  {
    operationId: 'createKey',
    method: 'POST',
    path: '/v1/host/weft/keys',
    scope: 'keys:manage',
    summary:
      'Creates an API key. Its scopes, its lifetime and, without keys:impersonate, its principal are limited to the caller’s.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: CreateKeySchema, required: true },
    responses: { 201: { description: 'The key, shown this once.', schema: CreatedKeySchema } },
    errors: ['validation_error', 'idempotency_in_flight', 'idempotency_key_mismatch'],
  },
  {
    operationId: 'listKeys',
    method: 'GET',
    path: '/v1/host/weft/keys',
    scope: 'keys:manage',
    summary: 'The keys of a tenant, without their secrets.',
    query: [TENANT],
    responses: { 200: { description: 'All keys.', schema: KeyListSchema } },
    errors: ['validation_error'],
  },
  {
    operationId: 'revokeKey',
    method: 'DELETE',
    path: '/v1/host/weft/keys/{keyId}',
    scope: 'keys:manage',
    summary: 'Revokes a key at once.',
    query: [TENANT],
    headers: [IDEMPOTENCY_KEY],
    responses: { 204: { description: 'Revoked.' } },
    errors: ['validation_error', 'idempotency_in_flight', 'idempotency_key_mismatch'],
  },
  {
    operationId: 'rotateLinkKey',
    method: 'POST',
    path: '/v1/host/weft/link-keys:rotate',
    scope: 'host:admin',
    summary:
      'Signs interrupt links with a new key. Links of the key before stay valid until the next rotation.',
    headers: [IDEMPOTENCY_KEY],
    responses: { 200: { description: 'It signs from now on.', schema: RotatedLinkKeySchema } },
    errors: [
      'validation_error',
      'capability_not_provided',
      'conflict',
      'idempotency_in_flight',
      'idempotency_key_mismatch',
    ],
  },
];
