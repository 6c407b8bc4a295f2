import {
  CreatedKeySchema,
  CreateKeySchema,
  KeyListSchema,
  RotatedLinkKeySchema,
} from '../documents/host-extension.ts';
import { describeRoutes, IDEMPOTENCY_ERRORS, IDEMPOTENCY_KEY, type Parameter } from './route-description.ts';
import { nameOf } from '../documents/schema-parts.ts';

const TENANT: Parameter = {
  name: 'tenant',
  description: 'Default: the caller’s own. Another one needs host:admin.',
  schema: nameOf({ minLength: 1, maxLength: 128 }),
};

/** Keys of callers, and the key that signs interrupt links. */
export const KEY_ROUTES = describeRoutes({
  createKey: {
    scope: 'keys:manage',
    summary:
      'Creates an API key. Its scopes, its lifetime and, without keys:impersonate, its principal are limited to the caller’s.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: CreateKeySchema, required: true },
    responses: { 201: { description: 'The key, shown this once.', schema: CreatedKeySchema } },
    errors: ['validation_error', ...IDEMPOTENCY_ERRORS],
  },
  listKeys: {
    scope: 'keys:manage',
    summary: 'The keys of a tenant, without their secrets.',
    query: [TENANT],
    responses: { 200: { description: 'All keys.', schema: KeyListSchema } },
    errors: ['validation_error'],
  },
  revokeKey: {
    scope: 'keys:manage',
    summary: 'Revokes a key at once.',
    query: [TENANT],
    headers: [IDEMPOTENCY_KEY],
    responses: { 204: { description: 'Revoked.' } },
    errors: ['validation_error', ...IDEMPOTENCY_ERRORS],
  },
  rotateLinkKey: {
    scope: 'host:admin',
    summary:
      'Signs interrupt links with a new key. Links of the key before stay valid until the next rotation.',
    headers: [IDEMPOTENCY_KEY],
    responses: { 200: { description: 'It signs from now on.', schema: RotatedLinkKeySchema } },
    errors: ['validation_error', 'capability_not_provided', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
});
