import {
  CreatedKeySchema,
  CreateKeySchema,
  KeyListSchema,
  OpenedSessionSchema,
  OpenSessionSchema,
  RotatedLinkKeySchema,
  SessionSchema,
  SignInCodeSchema,
} from '../documents/host-extension.ts';
import {
  ANY_SCOPE,
  describeRoutes,
  IDEMPOTENCY_ERRORS,
  IDEMPOTENCY_KEY,
  type Parameter,
} from './route-description.ts';
import { nameOf } from '../documents/schema-parts.ts';

const TENANT: Parameter = {
  name: 'tenant',
  description: 'Default: the caller’s own. Another one needs host:admin.',
  schema: nameOf({ minLength: 1, maxLength: 128 }),
};

/** Keys of callers, sessions of people, and the key that signs interrupt links. */
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
  createSignInCode: {
    scope: ANY_SCOPE,
    summary:
      'Makes a code that opens one session, within a minute, with the scopes of the key that asks. Refused in a session.',
    responses: { 201: { description: 'The code, shown this once.', schema: SignInCodeSchema } },
    errors: [],
  },
  openSession: {
    scope: null,
    summary: 'Exchanges a code for a session key, once. It lasts 12 hours, or as long as the key behind it.',
    request: { schema: OpenSessionSchema, required: true },
    responses: { 201: { description: 'The session.', schema: OpenedSessionSchema } },
    errors: ['validation_error', 'sign_in_code_invalid', 'host_not_allowed', 'forbidden'],
  },
  getSession: {
    scope: ANY_SCOPE,
    summary: 'Whose key this is, what it may do, and until when.',
    responses: { 200: { description: 'The holder of the key.', schema: SessionSchema } },
    errors: [],
  },
  endSession: {
    scope: ANY_SCOPE,
    summary: 'Ends the session that asks; its key is worth nothing from then on.',
    responses: { 204: { description: 'Ended.' } },
    errors: ['conflict'],
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
