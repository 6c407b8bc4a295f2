import { isJsonObject } from '@weft/protocol';
import { answered, block, eachEvent } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { DISCOVERY, POLL } from '../../mutants/targets.ts';

const REGISTER = { method: 'POST', path: /^\/v1\/trigger-subscriptions$/ };
const INGEST = { method: 'POST', path: /\/ingest\// };

export const TRIGGERS_MUTANTS: readonly Mutant[] = [
  {
    id: 'triggers/born-paused',
    breaks: 'a new subscription is paused',
    caughtBy: ['triggers/registration'],
    says: /a new subscription is active/,
    on: REGISTER,
    answer: answered((body) =>
      isJsonObject(body['subscription'])
        ? { ...body, subscription: { ...body['subscription'], state: 'paused' } }
        : body,
    ),
  },
  {
    id: 'triggers/no-url',
    breaks: 'the binding does not say where to deliver',
    caughtBy: ['triggers/registration'],
    says: /ingestUrl/,
    on: REGISTER,
    answer: answered((body) => ({ ...body, binding: {} })),
  },
  {
    id: 'triggers/unknown-members-taken',
    breaks: 'a registration with an unknown member is taken',
    caughtBy: ['triggers/registration-refused'],
    says: /status 400/,
    on: REGISTER,
    answer: (answer, { body }) => (body.includes('unknownMember') ? { ...answer, status: 201 } : answer),
  },
  {
    id: 'triggers/anyone-registers',
    breaks: 'a registration needs no scope',
    caughtBy: ['triggers/scope'],
    says: /status 403/,
    on: REGISTER,
    answer: (answer) => (answer.status === 403 ? { ...answer, status: 201 } : answer),
  },
  {
    id: 'triggers/every-delivery-starts',
    breaks: 'the same delivery again starts another run',
    caughtBy: ['triggers/delivery'],
    says: /starts no other run/,
    on: INGEST,
    answer: answered((body) =>
      body['duplicate'] === true ? { runId: '00000000-0000-7000-8000-000000000000' } : body,
    ),
  },
  {
    id: 'triggers/silent-cause',
    breaks: 'the log does not say which delivery started the run',
    caughtBy: ['triggers/delivery'],
    says: /causationId/,
    on: POLL,
    answer: eachEvent(({ causationId: _causationId, ...event }) => event),
  },
  {
    id: 'triggers/silent-attempt',
    breaks: 'the log does not have the attempt',
    caughtBy: ['triggers/delivery'],
    says: /trigger\.delivery\.attempted/,
    on: POLL,
    answer: eachEvent((event) => (event['type'] === 'trigger.delivery.attempted' ? [] : event)),
  },
  {
    id: 'triggers/tells-which-exist',
    breaks: 'an unknown address is answered with 404, a wrong signature with 401',
    caughtBy: ['triggers/verification'],
    says: /answered alike/,
    on: { method: 'POST', path: /no-such-subscription/ },
    answer: (answer) => ({ ...answer, status: 404 }),
  },
  {
    id: 'triggers/unsigned-taken',
    breaks: 'a delivery with a wrong signature is taken',
    caughtBy: ['triggers/verification'],
    says: /status 401/,
    on: INGEST,
    answer: (answer) => (answer.status === 401 ? { ...answer, status: 202, body: '{"runId":"r"}' } : answer),
  },
  {
    id: 'triggers/made-up-state',
    breaks: 'a state is advertised that the protocol does not have',
    caughtBy: ['triggers/capabilities'],
    says: /subscriptionStates lists words of the protocol/,
    on: DISCOVERY,
    answer: block('triggerBridge', (bridge) => ({ ...bridge, subscriptionStates: ['active', 'asleep'] })),
  },
  {
    id: 'triggers/horizon-in-days',
    breaks: 'the horizon is a number of days',
    caughtBy: ['triggers/capabilities'],
    says: /ISO 8601 duration/,
    on: DISCOVERY,
    answer: block('scheduling', (scheduling) => ({ ...scheduling, maxFutureHorizon: '3650' })),
  },
  {
    id: 'triggers/kept-for-no-time',
    breaks: 'dead letters are kept for no day',
    caughtBy: ['triggers/capabilities'],
    says: /retentionDays is a whole number from 1/,
    on: DISCOVERY,
    answer: block('deadLetter', (sink) => ({ ...sink, retentionDays: 0 })),
  },
  {
    id: 'triggers/two-runs-per-tick',
    breaks: 'a due time starts two runs',
    caughtBy: ['triggers/schedule'],
    says: /no due time starts two runs/,
    on: { method: 'GET', path: /\/schedules\// },
    answer: answered((body) =>
      Array.isArray(body['firings'])
        ? { ...body, firings: body['firings'].flatMap((firing) => [firing, firing]) }
        : body,
    ),
  },
];
