import { Type } from 'typebox';
import { HealthSchema, IdentitySchema } from '../documents/host-extension.ts';
import { describeRoutes } from './route-description.ts';

/** What may be asked without a key to see whether, and which, host is there. */
export const PROBE_ROUTES = describeRoutes({
  proveIdentity: {
    scope: null,
    summary: 'Proves to a client that can read the data folder that this is its host.',
    query: [
      {
        name: 'nonce',
        description: '16 to 128 characters of base64url, new for every question.',
        schema: Type.String({ pattern: '^[A-Za-z0-9_-]{16,128}$' }),
        required: true,
      },
    ],
    responses: {
      200: { description: 'The proof, good for this nonce and address.', schema: IdentitySchema },
    },
    errors: ['validation_error', 'not_found'],
  },
  health: {
    scope: null,
    summary: 'Whether the process lives.',
    responses: { 200: { description: 'It does.', schema: HealthSchema } },
    errors: [],
  },
  ready: {
    scope: null,
    summary: 'Whether the host should be sent work.',
    responses: { 200: { description: 'It should.', schema: HealthSchema } },
    errors: ['service_unavailable'],
  },
});
