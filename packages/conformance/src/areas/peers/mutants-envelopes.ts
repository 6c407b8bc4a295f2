import { isJsonObject, type JsonObject } from '@weft/protocol';
import {
  eachEvent,
  events,
  numbered,
  payloads,
  repeatedEvents,
  run,
  withoutEvents,
} from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { POLL, SNAPSHOT } from '../../mutants/targets.ts';

const isOf = (type: string) => (event: JsonObject) => event['type'] === type;
const failsWith = (code: string) =>
  run((snapshot) =>
    isJsonObject(snapshot['error']) ? { ...snapshot, error: { ...snapshot['error'], code } } : snapshot,
  );

export const ENVELOPE_MUTANTS: readonly Mutant[] = [
  {
    id: 'peers/attempts-without-end',
    breaks: 'a model is asked again more often than schemaRounds says',
    caughtBy: ['peers/answer-does-not-fit', 'peers/schema-envelopes'],
    says: /schemaRounds bounds the attempts/,
    on: POLL,
    answer: events((all) =>
      numbered(all.flatMap((event) => (isOf('provider.usage')(event) ? Array(9).fill(event) : [event]))),
    ),
  },
  {
    id: 'peers/retry-counted-from-one',
    breaks: 'the first retry is called attempt 1',
    caughtBy: ['peers/answer-does-not-fit', 'peers/answer-cut-off'],
    says: /from the second on/,
    on: POLL,
    answer: payloads('envelope.retry.attempted', (payload) => ({
      ...payload,
      attempt: Number(payload['attempt']) - 1,
    })),
  },
  {
    id: 'peers/given-up-silently',
    breaks: 'a host gives up and does not say so',
    caughtBy: ['peers/answer-does-not-fit', 'peers/answer-cut-off'],
    says: /exactly one envelope\.retry\.exhausted/,
    on: POLL,
    answer: withoutEvents('envelope.retry.exhausted'),
  },
  {
    id: 'peers/too-few-attempts-told',
    breaks: 'totalAttempts counts the retries',
    caughtBy: ['peers/answer-does-not-fit'],
    says: /totalAttempts is the number of calls/,
    on: POLL,
    answer: payloads('envelope.retry.exhausted', (payload) => ({
      ...payload,
      totalAttempts: Number(payload['totalAttempts']) - 1,
    })),
  },
  {
    id: 'peers/rounds-without-breach',
    breaks: 'used-up rounds are no breach',
    caughtBy: ['peers/answer-does-not-fit', 'peers/schema-envelopes', 'peers/envelopes-in-a-turn'],
    says: /exactly one cap\.breached of kind schema/,
    on: POLL,
    answer: withoutEvents('cap.breached'),
  },
  {
    id: 'peers/general-answer-code',
    breaks: 'answers that cannot be used fail with a general code',
    caughtBy: [
      'peers/answer-does-not-fit',
      'peers/answer-cut-off',
      'peers/answer-refused',
      'peers/unknown-envelope',
    ],
    says: /the error of the run is envelope_invalid/,
    on: SNAPSHOT,
    answer: failsWith('node_failed'),
  },
  {
    id: 'peers/cut-off-taken-for-misfit',
    breaks: 'an answer that is cut off is taken for one that does not fit',
    caughtBy: ['peers/answer-cut-off'],
    says: /a retry is for truncation/,
    on: POLL,
    answer: payloads('envelope.retry.attempted', (payload) => ({ ...payload, reason: 'schema-violation' })),
  },
  {
    id: 'peers/cut-off-not-told',
    breaks: 'an answer that is cut off is not recorded as such',
    caughtBy: ['peers/answer-cut-off'],
    says: /is an envelope\.truncated/,
    on: POLL,
    answer: withoutEvents('envelope.truncated'),
  },
  {
    id: 'peers/refusal-not-told',
    breaks: 'a refusal leaves no event',
    caughtBy: ['peers/answer-refused'],
    says: /exactly one envelope\.refusal/,
    on: POLL,
    answer: withoutEvents('envelope.refusal'),
  },
  {
    id: 'peers/refusal-retried',
    breaks: 'a model that refuses is asked again',
    caughtBy: ['peers/answer-refused', 'peers/answer-recovered'],
    says: /is called once/,
    on: POLL,
    answer: repeatedEvents(isOf('provider.usage')),
  },
  {
    id: 'peers/recovery-tells-answer',
    breaks: 'a recovery holds what was recovered',
    caughtBy: ['peers/answer-recovered'],
    says: /holds nothing of the answer/,
    on: POLL,
    answer: payloads('envelope.recovery.applied', (payload) => ({ ...payload, recovered: 'yes' })),
  },
  {
    id: 'peers/clarification-as-approval',
    breaks: 'a model that asks opens an approval',
    caughtBy: ['peers/clarification-envelope'],
    says: /the interrupt is of the kind clarification/,
    on: POLL,
    answer: payloads('interrupt.requested', (payload) => ({ ...payload, kind: 'approval' })),
  },
  {
    id: 'peers/question-reworded',
    breaks: 'the question of a model is put in other words',
    caughtBy: ['peers/clarification-envelope'],
    says: /asked as the model asks it/,
    on: POLL,
    answer: payloads('clarification.requested', (payload) => ({
      ...payload,
      questions: [{ id: 'colour', question: 'What is your password?' }],
    })),
  },
  {
    id: 'peers/clarification-limit-moved',
    breaks: 'a node asks more often than discovery says',
    caughtBy: ['peers/clarification-envelope', 'peers/envelopes-in-a-turn'],
    says: /the limit of the breach is the advertised one/,
    on: POLL,
    answer: payloads('cap.breached', (payload) => ({
      ...payload,
      limit: Number(payload['limit']) + 1,
      observed: Number(payload['observed']) + 1,
    })),
  },
  {
    id: 'peers/report-fails-node',
    breaks: 'a model that reports an error fails its node',
    caughtBy: ['peers/error-envelope'],
    says: /no node fails/,
    on: POLL,
    answer: eachEvent((event) => (isOf('node.completed')(event) ? { ...event, type: 'node.failed' } : event)),
  },
  {
    id: 'peers/report-not-logged',
    breaks: 'what a model reports is in no log line',
    caughtBy: ['peers/error-envelope', 'peers/schema-envelopes'],
    says: /log line of level error/,
    on: POLL,
    answer: withoutEvents('log.appended'),
  },
  {
    id: 'peers/model-answers-approval',
    breaks: 'an envelope of a model answers an interrupt',
    caughtBy: ['peers/unknown-envelope'],
    says: /an envelope answers nothing/,
    on: POLL,
    answer: eachEvent((event) =>
      isOf('provider.usage')(event) ? [event, { ...event, type: 'interrupt.resolved' }] : event,
    ),
  },
];
