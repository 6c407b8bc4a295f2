import { isJsonObject } from '@weft/protocol';
import { answered, answeredHeader, dropsHeader, omit, refusal, replyWith } from '../../mutants/answers.ts';
import type { Mutant, ProxiedRequest } from '../../mutants/mutant.ts';
import { bodyOf, counted, ignoresHeader } from '../../mutants/requests.ts';
import { CANCEL, CREATE, DISCOVERY, FORK, PAUSE, RESOLVE, SNAPSHOT } from '../../mutants/targets.ts';

const KEY = 'idempotency-key';
const REPLAY = 'openwop-idempotent-replay';

export const IDEMPOTENCY_MUTANTS: readonly Mutant[] = [
  {
    id: 'idempotency/key-ignored',
    breaks: 'the key is ignored, and a repeated request makes a second run',
    caughtBy: [
      'idempotency/replay',
      'idempotency/retries',
      'idempotency/parallel-duplicates',
      'idempotency/canonical-body',
    ],
    says: /runId of the first/,
    on: CREATE,
    request: ignoresHeader(KEY),
  },
  {
    id: 'idempotency/not-marked',
    breaks: 'a repeated answer is not marked',
    caughtBy: ['idempotency/replay', 'idempotency/long-key'],
    says: /carries openwop-Idempotent-Replay: true/,
    on: CREATE,
    answer: dropsHeader(REPLAY),
  },
  {
    id: 'idempotency/always-marked',
    breaks: 'the first answer is marked as a repeated one',
    caughtBy: ['idempotency/replay', 'idempotency/other-keys'],
    says: /first answer to a key is not marked/,
    on: CREATE,
    answer: answeredHeader(REPLAY, 'true'),
  },
  {
    id: 'idempotency/status-of-now',
    breaks: 'a repeated answer has the status that the run has by then',
    caughtBy: ['idempotency/replay'],
    says: /has the body of the first/,
    on: CREATE,
    answer: (answer, request, memory) =>
      REPLAY in answer.headers
        ? answered((body) => ({ ...body, status: 'completed' }))(answer, request, memory)
        : answer,
  },
  {
    id: 'idempotency/cookie-repeated',
    breaks: 'a cookie is repeated with the answer',
    caughtBy: ['idempotency/replay'],
    says: /sets no cookie/,
    on: CREATE,
    answer: (answer) =>
      REPLAY in answer.headers
        ? { ...answer, headers: { ...answer.headers, 'set-cookie': 'session=1' } }
        : answer,
  },
  {
    id: 'idempotency/body-ignored',
    breaks: 'a key with another body has the stored answer',
    caughtBy: ['idempotency/other-body', 'idempotency/mismatch-code'],
    says: /status 409/,
    on: CREATE,
    request: (request, memory) => {
      const name = `body ${request.headers[KEY] ?? ''}`;
      const stored = memory.get(name);
      if (typeof stored === 'string') return { ...request, body: stored };
      memory.set(name, request.body);
      return request;
    },
  },
  {
    id: 'idempotency/early-code',
    breaks: 'a key with another body is refused with a code from before RFC 0150',
    caughtBy: ['idempotency/mismatch-code'],
    says: /code is idempotency_key_mismatch/,
    on: CREATE,
    answer: answered((body) =>
      body['error'] === 'idempotency_key_mismatch' ? { ...body, error: 'idempotency_key_conflict' } : body,
    ),
  },
  {
    id: 'idempotency/bytes-compared',
    breaks: 'bodies are compared byte by byte',
    caughtBy: ['idempotency/canonical-body'],
    says: /status 200 or 201/,
    on: CREATE,
    request: (request, memory) => {
      const name = `body ${request.headers[KEY] ?? ''}`;
      const isOther = memory.has(name) && memory.get(name) !== request.body;
      memory.set(name, request.body);
      return isOther ? { instead: refusal(409, 'idempotency_key_mismatch') } : request;
    },
  },
  {
    id: 'idempotency/bodies-compared-without-key',
    breaks: 'equal requests are taken for repeated ones, whatever their keys',
    caughtBy: ['idempotency/other-keys'],
    says: /first answer to a key is not marked|run of its own/,
    on: CREATE,
    request: (request) => ({
      ...request,
      headers: { ...request.headers, [KEY]: `body-${digest(request.body)}` },
    }),
  },
  {
    id: 'idempotency/one-key-for-all-operations',
    breaks: 'a key that was used for a creation answers for a cancel',
    caughtBy: ['idempotency/per-operation'],
    says: /key of a creation does not answer for a cancel/,
    on: { method: 'POST', path: /^\/v1\/runs/ },
    request: remembered((request) => request.headers[KEY]),
    answer: remember((request) => request.headers[KEY]),
  },
  {
    id: 'idempotency/third-retry-refused',
    breaks: 'the third retry is refused',
    caughtBy: ['idempotency/retries'],
    says: /status 200 or 201/,
    on: CREATE,
    request: (request, memory) => {
      const count = counted(memory, 'count');
      return count === 4 ? { instead: refusal(409, 'idempotency_in_flight') } : request;
    },
  },
  {
    id: 'idempotency/second-run-in-parallel',
    breaks: 'of parallel requests with one key two make a run',
    caughtBy: ['idempotency/parallel-duplicates'],
    says: /have one runId/,
    on: CREATE,
    request: (request, memory) => {
      const count = counted(memory, 'count');
      return count === 5 ? ignoresHeader(KEY)(request) : request;
    },
  },
  {
    id: 'idempotency/retry-after-nothing',
    breaks: 'a duplicate is asked to wait for no time',
    caughtBy: ['idempotency/parallel-duplicates'],
    says: /retryAfter of idempotency_in_flight is a positive number/,
    on: CREATE,
    answer: (answer) =>
      REPLAY in answer.headers
        ? replyWith(409, { error: 'idempotency_in_flight', message: 'Wait.', details: { retryAfter: 0 } })
        : answer,
  },
  {
    id: 'idempotency/shed-without-retry-after',
    breaks: 'a request that cannot be taken is refused without Retry-After',
    caughtBy: ['idempotency/parallel-keys'],
    says: /header retry-after/,
    on: CREATE,
    request: (request, memory) => {
      const count = counted(memory, 'count');
      return count % 3 === 0 ? { instead: refusal(503, 'service_unavailable') } : request;
    },
  },
  {
    id: 'idempotency/keys-collide',
    breaks: 'only the beginning of a key counts',
    caughtBy: ['idempotency/parallel-keys'],
    says: /status 201 or 429|run of its own/,
    on: CREATE,
    request: (request) => ({
      ...request,
      headers: { ...request.headers, [KEY]: (request.headers[KEY] ?? '').slice(0, 8) },
    }),
  },
  {
    id: 'idempotency/refusal-kept',
    breaks: 'a refusal with 400 is kept',
    caughtBy: ['idempotency/refusals-not-kept'],
    says: /status 201/,
    on: CREATE,
    request: (request, memory) => {
      const stored = memory.get(`400 ${request.headers[KEY] ?? ''}`);
      const isForeign = request.headers['authorization']?.includes('no-such-key') === true;
      return stored === true && !isForeign ? { instead: refusal(400, 'validation_error') } : request;
    },
    answer: (answer, request, memory) => {
      if (answer.status === 400) memory.set(`400 ${request.headers[KEY] ?? ''}`, true);
      return answer;
    },
  },
  {
    id: 'idempotency/region-unknown',
    breaks: 'crossRegion is a word of its own',
    caughtBy: ['idempotency/regions'],
    says: /crossRegion is a word of the vocabulary/,
    on: DISCOVERY,
    answer: answered((body) => ({ ...body, idempotency: { supported: true, crossRegion: 'global' } })),
  },
  {
    id: 'idempotency/no-retention',
    breaks: 'keys are not remembered at all',
    caughtBy: ['idempotency/regions'],
    says: /layer1RetentionSeconds is a positive number/,
    on: DISCOVERY,
    answer: answered((body) => ({
      ...body,
      idempotency: { crossRegion: 'single-region', layer1RetentionSeconds: 0 },
    })),
  },
  {
    id: 'idempotency/short-acknowledgement',
    breaks: 'the acknowledgement timeout is 2 seconds',
    caughtBy: ['idempotency/ack-timeout'],
    says: /integer of at least 5/,
    on: DISCOVERY,
    answer: answered((body) =>
      isJsonObject(body['limits'])
        ? { ...body, limits: { ...body['limits'], idempotencyAckTimeoutSec: 2 } }
        : body,
    ),
  },
  {
    id: 'idempotency/reads-kept',
    breaks: 'a read with a key is answered from the store',
    caughtBy: ['idempotency/reads'],
    says: /shows what is true by then/,
    on: SNAPSHOT,
    request: remembered((request) => request.headers[KEY]),
    answer: remember((request) => request.headers[KEY]),
  },
  {
    id: 'idempotency/cancel-not-marked',
    breaks: 'keys are taken on creations alone',
    caughtBy: ['idempotency/cancel'],
    says: /carries openwop-Idempotent-Replay: true|has the body of the first/,
    on: CANCEL,
    request: ignoresHeader(KEY),
  },
  {
    id: 'idempotency/run-not-in-key',
    breaks: 'a key that was used to cancel one run answers for another',
    caughtBy: ['idempotency/other-run'],
    says: /run that the key was used on first/,
    on: CANCEL,
    request: remembered((request) => request.headers[KEY]),
    answer: remember((request) => request.headers[KEY]),
  },
  {
    id: 'idempotency/second-fork',
    breaks: 'a repeated fork makes a second fork',
    caughtBy: ['idempotency/fork'],
    says: /repeated fork has the runId of the first/,
    on: FORK,
    request: ignoresHeader(KEY),
  },
  {
    id: 'idempotency/second-annotation',
    breaks: 'a repeated annotation is a second one',
    caughtBy: ['idempotency/annotation'],
    says: /carries openwop-Idempotent-Replay: true/,
    on: { method: 'POST', path: /\/annotations$/ },
    request: ignoresHeader(KEY),
  },
  {
    id: 'idempotency/second-annotation-marked',
    breaks: 'a repeated annotation is marked and recorded all the same',
    caughtBy: ['idempotency/annotation'],
    says: /repeated annotation is there once/,
    on: { method: 'GET', path: /\/annotations$/ },
    answer: answered((body) =>
      Array.isArray(body['annotations'])
        ? { ...body, annotations: [...body['annotations'], ...body['annotations']] }
        : body,
    ),
  },
  {
    id: 'idempotency/answer-too-late',
    breaks: 'a repeated answer to an interrupt comes too late',
    caughtBy: ['idempotency/interrupt'],
    says: /status 200/,
    on: RESOLVE,
    request: ignoresHeader(KEY),
  },
  {
    id: 'idempotency/second-pause',
    breaks: 'a repeated pause is a conflict',
    caughtBy: ['idempotency/pause'],
    says: /status 202/,
    on: PAUSE,
    request: ignoresHeader(KEY),
  },
  {
    id: 'idempotency/short-keys',
    breaks: 'keys above 128 characters are refused',
    caughtBy: ['idempotency/long-key'],
    says: /status 201/,
    on: CREATE,
    request: (request) =>
      (request.headers[KEY] ?? '').length > 128 ? { instead: refusal(400, 'validation_error') } : request,
  },
  {
    id: 'idempotency/mismatch-shows-run',
    breaks: 'the refusal of a key with another body shows the stored run',
    caughtBy: ['idempotency/other-body'],
    says: /does not show the stored answer/,
    on: CREATE,
    answer: (answer, request, memory) => {
      const stored = memory.get(request.headers[KEY] ?? '');
      if (answer.status === 201) memory.set(request.headers[KEY] ?? '', answer.body);
      return answer.status === 409 && typeof stored === 'string'
        ? replyWith(409, {
            ...omit(bodyOf(answer), 'details'),
            details: { stored },
          })
        : answer;
    },
  },
];

/** Keeps the first answer under a name, marked as a repeated one. */
function remember(nameOf: (request: ProxiedRequest) => string | undefined): Required<Mutant>['answer'] {
  return (answer, request, memory) => {
    const name = nameOf(request);
    if (name !== undefined && !memory.has(name)) memory.set(name, answer.body);
    return answer;
  };
}

/** Answers with what was kept under the name. */
function remembered(nameOf: (request: ProxiedRequest) => string | undefined): Required<Mutant>['request'] {
  return (request, memory) => {
    const name = nameOf(request);
    const stored = name === undefined ? undefined : memory.get(name);
    if (typeof stored !== 'string') return request;
    return {
      instead: {
        status: 200,
        headers: { 'content-type': 'application/json', [REPLAY]: 'true' },
        body: stored,
      },
    };
  };
}

function digest(text: string): string {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_000_007;
  return String(sum);
}
