import { isJsonObject } from '@weft/protocol';
import { answered, omit, payloads, refusals } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { sent } from '../../mutants/requests.ts';
import { DISCOVERY, FORK, POLL } from '../../mutants/targets.ts';

const REGISTER = { method: 'POST', path: /^\/v1\/webhooks$/ };

/** Takes what is refused, where the request says something. */
function takes(pattern: RegExp): NonNullable<Mutant['answer']> {
  return (answer, { body }) =>
    pattern.test(body) ? { ...answer, status: 201, body: '{"webhookId":"wh","secret":"s"}' } : answer;
}

export const WEBHOOKS_MUTANTS: readonly Mutant[] = [
  {
    id: 'webhooks/any-url-taken',
    breaks: 'a webhook with a malformed URL is registered',
    caughtBy: ['webhooks/no-url'],
    says: /status 400 or 403 or 404/,
    on: REGISTER,
    answer: takes(/this is no URL/),
  },
  {
    id: 'webhooks/unknown-crashes',
    breaks: 'deleting an unknown webhook fails with 500',
    caughtBy: ['webhooks/delete-unknown'],
    says: /status 403 or 404/,
    on: { method: 'DELETE', path: /^\/v1\/webhooks\// },
    answer: (answer) => ({ ...answer, status: 500 }),
  },
  {
    id: 'webhooks/tenant-demanded',
    breaks: 'deleting a webhook demands tenantId',
    caughtBy: ['webhooks/delete-unknown'],
    says: /status 403 or 404/,
    on: { method: 'DELETE', path: /^\/v1\/webhooks\// },
    answer: (answer) => ({ ...answer, status: 400 }),
  },
  {
    id: 'webhooks/url-merely-invalid',
    breaks: 'a URL that is not delivered to is refused as merely invalid',
    caughtBy: ['webhooks/url-rejected'],
    says: /code is webhook_url_rejected/,
    on: REGISTER,
    answer: refusals((body) => ({ ...body, error: 'validation_error' })),
  },
  {
    id: 'webhooks/unknown-not-found',
    breaks: 'an unknown webhook is not found like anything else',
    caughtBy: ['webhooks/unknown-subscription'],
    says: /code is subscription_not_found/,
    on: { method: 'DELETE', path: /^\/v1\/webhooks\// },
    answer: refusals((body) => ({ ...body, error: 'not_found' })),
  },
  {
    id: 'webhooks/http-taken',
    breaks: 'an http URL is registered',
    caughtBy: ['webhooks/https-only'],
    says: /status 400 or 403 or 422/,
    on: REGISTER,
    answer: takes(/"http:/),
  },
  {
    id: 'webhooks/loopback-taken',
    breaks: 'a loopback address is registered',
    caughtBy: ['webhooks/private-addresses'],
    says: /https:\/\/127\.0\.0\.1\/hook is refused/,
    on: REGISTER,
    answer: takes(/127\.0\.0\.1/),
  },
  {
    id: 'webhooks/half-of-private-taken',
    breaks: 'only 172.16.0.0/16 of 172.16.0.0/12 is refused',
    caughtBy: ['webhooks/private-addresses'],
    says: /https:\/\/172\.31\.255\.254\/hook is refused/,
    on: REGISTER,
    answer: takes(/172\.31\./),
  },
  {
    id: 'webhooks/metadata-taken',
    breaks: 'the metadata service is registered by its name',
    caughtBy: ['webhooks/private-addresses'],
    says: /metadata\.google\.internal\/hook is refused/,
    on: REGISTER,
    answer: takes(/metadata\.google/),
  },
  {
    id: 'webhooks/decimal-taken',
    breaks: 'a loopback address that is written as a number is registered',
    caughtBy: ['webhooks/spellings-of-addresses'],
    says: /https:\/\/2130706433\/hook is refused/,
    on: REGISTER,
    answer: takes(/2130706433/),
  },
  {
    id: 'webhooks/mapped-taken',
    breaks: 'a loopback address that is mapped into IPv6 is registered',
    caughtBy: ['webhooks/spellings-of-addresses'],
    says: /::ffff:127\.0\.0\.1\]\/hook is refused/,
    on: REGISTER,
    answer: takes(/::ffff:127/),
  },
  {
    id: 'webhooks/no-events-taken',
    breaks: 'a webhook without events is registered',
    caughtBy: ['webhooks/incomplete'],
    says: /status 400/,
    on: REGISTER,
    answer: takes(/"events":\[\]/),
  },
  {
    id: 'webhooks/misspelling-taken',
    breaks: 'members that are not declared are ignored',
    caughtBy: ['webhooks/incomplete'],
    says: /status 400/,
    on: REGISTER,
    answer: takes(/evnets/),
  },
  {
    id: 'webhooks/no-key-needed',
    breaks: 'a registration needs no credential',
    caughtBy: ['webhooks/no-credential'],
    says: /status 401/,
    on: REGISTER,
    answer: (answer) => (answer.status === 401 ? { ...answer, status: 201 } : answer),
  },
  {
    id: 'webhooks/any-tenant-taken',
    breaks: 'a webhook of another tenant is registered',
    caughtBy: ['webhooks/another-tenant-named'],
    says: /status 400 or 403 or 404/,
    on: REGISTER,
    request: sent((body) => omit(body, 'tenantId')),
  },
  {
    id: 'webhooks/algorithm-v2-alone',
    breaks: 'discovery has the algorithm v2 alone',
    caughtBy: ['webhooks/discovery'],
    says: /is a list with v1/,
    on: DISCOVERY,
    answer: answered((body) => ({ ...body, webhooks: { supported: true, signatureAlgorithms: ['v2'] } })),
  },
  {
    id: 'webhooks/short-secret',
    breaks: 'the secret is short',
    caughtBy: ['webhooks/registration'],
    says: /a secret has 64 hexadecimal digits/,
    on: REGISTER,
    answer: answered((body) => ({ ...body, secret: String(body['secret']).slice(0, 16) })),
  },
  {
    id: 'webhooks/wrong-fingerprint',
    breaks: 'the fingerprint is the beginning of the secret',
    caughtBy: ['webhooks/registration'],
    says: /secretFingerprint has the first 8 digits/,
    on: REGISTER,
    answer: answered((body) => ({ ...body, secretFingerprint: String(body['secret']).slice(0, 8) })),
  },
  {
    id: 'webhooks/secret-shared',
    breaks: 'all webhooks have the same secret',
    caughtBy: ['webhooks/registration'],
    says: /each registration has a secret of its own/,
    on: REGISTER,
    answer: answered((body, _request, memory) => {
      const secret = memory.get('secret') ?? body['secret'] ?? '';
      const secretFingerprint = memory.get('fingerprint') ?? body['secretFingerprint'] ?? '';
      memory.set('secret', secret);
      memory.set('fingerprint', secretFingerprint);
      return { ...body, secret, secretFingerprint };
    }),
  },
  {
    id: 'webhooks/signed-with-another-secret',
    breaks: 'deliveries are signed with another secret than was returned',
    caughtBy: ['webhooks/signature'],
    says: /X-openwop-Signature is the HMAC-SHA256/,
    on: REGISTER,
    answer: answered((body) => ({ ...body, secret: '0'.repeat(64) })),
  },
  {
    id: 'webhooks/another-webhook-named',
    breaks: 'deliveries name another webhook than was returned',
    caughtBy: ['webhooks/signature'],
    says: /X-openwop-Webhook-Id names the webhook/,
    on: REGISTER,
    answer: answered((body) => ({ ...body, webhookId: `other-${String(body['webhookId'])}` })),
  },
  {
    id: 'webhooks/delivered-differently',
    breaks: 'the delivered event is not the one in the log',
    caughtBy: ['webhooks/delivery'],
    says: /the event that is delivered is the one in the log/,
    on: POLL,
    answer: payloads('run.completed', (payload) => ({ ...payload, outputs: { more: true } })),
  },
  {
    id: 'webhooks/all-types-delivered',
    breaks: 'events that were not asked for are delivered',
    caughtBy: ['webhooks/filters'],
    says: /only registered event types are delivered/,
    on: REGISTER,
    request: sent((body) => ({ ...body, events: ['run.started', 'node.completed', 'run.completed'] })),
  },
  {
    id: 'webhooks/tags-ignored',
    breaks: 'events of runs without the tag are delivered',
    caughtBy: ['webhooks/filters'],
    says: /no event of a run without the tag is delivered/,
    on: REGISTER,
    request: sent((body) => omit(body, 'tags')),
  },
  {
    id: 'webhooks/not-deleted',
    breaks: 'a deleted webhook still receives deliveries',
    caughtBy: ['webhooks/delete'],
    says: /nothing is delivered after the deletion/,
    on: { method: 'DELETE', path: /^\/v1\/webhooks\// },
    request: () => ({ instead: { status: 204, headers: {}, body: '' } }),
  },
  {
    id: 'webhooks/tenants-mixed',
    breaks: 'the webhook of another tenant receives deliveries',
    caughtBy: ['webhooks/tenant-scope'],
    says: /the webhook of another tenant is not notified/,
    on: REGISTER,
    request(request, memory) {
      const authorization = memory.get('authorization') ?? request.headers['authorization'] ?? '';
      memory.set('authorization', authorization);
      return { ...request, headers: { ...request.headers, authorization: String(authorization) } };
    },
  },
  {
    id: 'webhooks/replay-delivered',
    breaks: 'a replay is delivered like a run',
    caughtBy: ['webhooks/replay'],
    says: /nothing is delivered about a replay/,
    on: FORK,
    request: sent((body) => (isJsonObject(body) ? { ...body, mode: 'branch' } : body)),
  },
];
