import type { Json, JsonObject } from '@weft/protocol';
import {
  answered,
  answeredHeader,
  dropsHeader,
  omit,
  refusal,
  replaces,
  status,
  withHeader,
} from '../../mutants/answers.ts';
import type { Mutant, MutantMemory, ProxiedAnswer, ProxiedRequest } from '../../mutants/mutant.ts';
import { counted, ignoresHeader } from '../../mutants/requests.ts';
import { CREATE, DISCOVERY, SNAPSHOT } from '../../mutants/targets.ts';

const EVERYWHERE = { path: /^\// };
/** Requests that pass before a burst is refused; the suite itself reads discovery first. */
const BEFORE_THE_LIMIT = 5;

/** Advertises a block; what the host answers else may be changed too. */
function advertises(
  family: string,
  block: Json,
  otherwise: (answer: ProxiedAnswer, request: ProxiedRequest, memory: MutantMemory) => ProxiedAnswer = (
    answer,
  ) => answer,
): NonNullable<Mutant['answer']> {
  return (answer, request, memory) =>
    request.path === '/.well-known/openwop'
      ? replaces(family, block)(answer, request, memory)
      : otherwise(answer, request, memory);
}

/** Refuses discovery from the sixth request on. */
function refuses(code: number, error: string, retryAfter: string | undefined, details: JsonObject = {}) {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  const instead = { status: code, headers, body: JSON.stringify({ error, message: 'Later.', details }) };
  return (request: ProxiedRequest, memory: MutantMemory) => {
    const calls = counted(memory, 'calls');
    return calls > BEFORE_THE_LIMIT ? { instead } : request;
  };
}

const TWO_LOCALES = { supported: true, defaultLocale: 'en', supportedLocales: ['en', 'de'] };

const READ_MUTANTS: readonly Mutant[] = [
  {
    id: 'transport/html',
    breaks: 'runs are sent as text/html',
    caughtBy: ['transport/media-type'],
    says: /sent as application\/json/,
    on: SNAPSHOT,
    answer: answeredHeader('content-type', 'text/html'),
  },
  {
    id: 'transport/no-etag',
    breaks: 'conditional reads are advertised, and runs have no ETag',
    caughtBy: ['transport/not-modified', 'transport/modified'],
    says: /header etag/,
    on: SNAPSHOT,
    answer: dropsHeader('etag'),
  },
  {
    id: 'transport/always-sent',
    breaks: 'If-None-Match is ignored',
    caughtBy: ['transport/not-modified'],
    says: /status 304/,
    on: SNAPSHOT,
    request: ignoresHeader('if-none-match'),
  },
  {
    id: 'transport/list-unread',
    breaks: 'a list in If-None-Match matches nothing',
    caughtBy: ['transport/not-modified'],
    says: /status 304/,
    on: SNAPSHOT,
    request: (request) =>
      request.headers['if-none-match']?.includes(',') === true
        ? { ...request, headers: { ...request.headers, 'if-none-match': '"nothing"' } }
        : request,
  },
  {
    id: 'transport/restless-etag',
    breaks: 'the ETag of a run is another one on every read',
    caughtBy: ['transport/not-modified'],
    says: /keeps its ETag/,
    on: SNAPSHOT,
    answer: (answer, _request, memory) => {
      const reads = counted(memory, 'reads');
      return withHeader(answer, 'etag', `"${reads}"`);
    },
  },
  {
    id: 'transport/weak-etag',
    breaks: 'the ETag of a run is weak',
    caughtBy: ['transport/not-modified'],
    says: /strong/,
    on: SNAPSHOT,
    answer: (answer) => withHeader(answer, 'etag', `W/${answer.headers['etag'] ?? '""'}`),
  },
  {
    id: 'transport/stale',
    breaks: 'a run that has changed is answered with 304',
    caughtBy: ['transport/modified'],
    says: /status 200/,
    on: SNAPSHOT,
    request: (request) =>
      request.headers['if-none-match'] === undefined
        ? request
        : { instead: { status: 304, headers: {}, body: '' } },
  },
  {
    id: 'transport/unasked-encoding',
    breaks: 'runs are encoded although no encoding was asked for',
    caughtBy: ['transport/plain'],
    says: /is not encoded/,
    on: SNAPSHOT,
    answer: answeredHeader('content-encoding', 'x-acme'),
  },
  {
    id: 'transport/hollow-gzip',
    breaks: 'gzip is advertised and not served',
    caughtBy: ['transport/encodings'],
    says: /gzip is served/,
    on: SNAPSHOT,
    request: (request) => ({ ...request, headers: { ...request.headers, 'accept-encoding': 'identity' } }),
  },
];

const METHOD_MUTANTS: readonly Mutant[] = [
  {
    id: 'transport/language-unsaid',
    breaks: 'answers do not say their language',
    caughtBy: ['transport/answers-say-their-language'],
    says: /header content-language/,
    on: EVERYWHERE,
    answer: dropsHeader('content-language'),
  },
  {
    id: 'transport/head-unknown',
    breaks: 'HEAD is not found',
    caughtBy: ['transport/head'],
    says: /has the status of GET/,
    on: { method: 'HEAD', path: /^\// },
    request: () => ({ instead: { status: 404, headers: {}, body: '' } }),
  },
  {
    id: 'transport/head-without-etag',
    breaks: 'HEAD has fewer headers than GET',
    caughtBy: ['transport/head'],
    says: /HEAD has the etag of GET/,
    on: { method: 'HEAD', path: /^\// },
    answer: dropsHeader('etag'),
  },
  {
    id: 'transport/methods-unnamed',
    breaks: 'a method that is not served is refused without naming those that are',
    caughtBy: ['transport/method-not-allowed'],
    says: /header allow/,
    on: { method: 'DELETE', path: /^\/v1\/runs$/ },
    answer: dropsHeader('allow'),
  },
  {
    id: 'transport/gzip-as-json',
    breaks: 'a gzipped body is read as if it were plain',
    caughtBy: ['transport/gzipped-body'],
    says: /status 415/,
    on: CREATE,
    request: (request) =>
      request.headers['content-encoding'] === 'gzip'
        ? { instead: refusal(400, 'validation_error') }
        : request,
  },
  {
    id: 'transport/content-not-found',
    breaks: 'content that is not offered is not found',
    caughtBy: ['transport/optional-surfaces'],
    says: /status 501/,
    on: { path: /^\/v1\/content/ },
    answer: status(501, 404),
  },
];

const LANGUAGE_MUTANTS: readonly Mutant[] = [
  {
    id: 'transport/picky-language',
    breaks: 'a malformed Accept-Language is refused',
    caughtBy: ['transport/malformed-language'],
    says: /Accept-Language: ;;; is not an error/,
    on: DISCOVERY,
    answer: (answer, { headers }) =>
      headers['accept-language'] === ';;;' ? { ...answer, status: 400 } : answer,
  },
  {
    id: 'transport/no-such-language',
    breaks: 'a language that the host does not have is answered with 406',
    caughtBy: ['transport/malformed-language'],
    says: /qaa is not an error/,
    on: DISCOVERY,
    answer: (answer, { headers }) =>
      headers['accept-language'] === 'qaa' ? { ...answer, status: 406 } : answer,
  },
  {
    id: 'transport/translated-code',
    breaks: 'the codes of errors are translated',
    caughtBy: ['transport/codes-in-every-language'],
    says: /code of an error is the same/,
    on: SNAPSHOT,
    answer: (answer, request, memory) =>
      request.headers['accept-language']?.startsWith('de') === true && answer.status === 404
        ? replaces('error', 'nicht_gefunden')(answer, request, memory)
        : answer,
  },
  {
    id: 'transport/translated-time',
    breaks: 'times are written as the language does',
    caughtBy: ['transport/codes-in-every-language'],
    says: /startedAt is written/,
    on: SNAPSHOT,
    answer: (answer, request, memory) =>
      request.headers['accept-language']?.startsWith('de') === true && answer.status === 200
        ? replaces('startedAt', '31.1.2026, 10:00')(answer, request, memory)
        : answer,
  },
  {
    id: 'transport/default-not-spoken',
    breaks: 'the default locale is not a supported one',
    caughtBy: ['transport/locales'],
    says: /has the default locale/,
    on: DISCOVERY,
    answer: advertises('i18n', { supported: true, defaultLocale: 'en', supportedLocales: ['de'] }),
  },
  {
    id: 'transport/one-language-only',
    breaks: 'every answer is in the default language',
    caughtBy: ['transport/content-language'],
    says: /Accept-Language: de is answered in de/,
    on: EVERYWHERE,
    answer: advertises('i18n', TWO_LOCALES, answeredHeader('content-language', 'en')),
  },
  {
    id: 'transport/first-language-wins',
    breaks: 'the q values of Accept-Language are ignored',
    caughtBy: ['transport/content-language'],
    says: /en;q=0\.1, de;q=0\.9 is answered in de/,
    on: EVERYWHERE,
    answer: advertises('i18n', TWO_LOCALES, (answer, { headers }) => {
      const asked = (headers['accept-language'] ?? '').split(/[,;-]\s*/);
      return withHeader(
        answer,
        'content-language',
        asked.find((tag) => tag === 'en' || tag === 'de') ?? 'en',
      );
    }),
  },
];

const REQUEST_MUTANTS: readonly Mutant[] = [
  {
    id: 'transport/no-body-limit',
    breaks: 'the advertised limit of bodies is not enforced',
    caughtBy: ['transport/body-too-large'],
    says: /status 400 or 413/,
    on: CREATE,
    answer: (answer) =>
      answer.status === 413 ? { ...answer, status: 201, body: '{"runId":"r","status":"pending"}' } : answer,
  },
  {
    id: 'transport/body-limit-off-by-one',
    breaks: 'a body of exactly the limit is too large',
    caughtBy: ['transport/body-too-large'],
    says: /body of the limit is not too large/,
    on: CREATE,
    request: (request) =>
      request.body.length >= 1_000_000 ? { instead: refusal(413, 'validation_error') } : request,
  },
  {
    id: 'transport/new-trace',
    breaks: 'an answer begins a trace of its own',
    caughtBy: ['transport/traceparent'],
    says: /of the same trace/,
    on: CREATE,
    answer: (answer) => withHeader(answer, 'traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`),
  },
  {
    id: 'transport/strict-trace',
    breaks: 'a malformed traceparent is refused',
    caughtBy: ['transport/malformed-traceparent'],
    says: /status 201/,
    on: CREATE,
    answer: (answer, { headers }) =>
      headers['traceparent'] === 'none' ? { ...answer, status: 400 } : answer,
  },
  {
    id: 'transport/trace-is-a-key',
    breaks: 'a caller with a traceparent needs no key',
    caughtBy: ['transport/malformed-traceparent'],
    says: /status 401/,
    on: CREATE,
    answer: status(401, 201),
  },
  {
    id: 'transport/schema-hidden',
    breaks: 'a workflow is answered without its configurableSchema',
    caughtBy: ['transport/configurable-schema'],
    says: /with its configurableSchema/,
    on: { method: 'GET', path: /^\/v1\/workflows\// },
    answer: answered((body) => omit(body, 'configurableSchema')),
  },
  {
    id: 'transport/schema-ignored',
    breaks: 'what does not fit the configurableSchema is accepted',
    caughtBy: ['transport/configurable-schema'],
    says: /status 400 or 422/,
    on: CREATE,
    answer: status(400, 201),
  },
  {
    id: 'transport/maximum-ignored',
    breaks: 'values above their advertised maximum are accepted',
    caughtBy: ['transport/configurable-maximum'],
    says: /status 400 or 422/,
    on: CREATE,
    request: (request) => ({ ...request, body: request.body.replace(/,"configurable":\{[^}]*\}/, '') }),
  },
];

const OVERLOAD_MUTANTS: readonly Mutant[] = [
  {
    id: 'transport/429-without-retry',
    breaks: 'a 429 does not say when to come again',
    caughtBy: ['transport/overload'],
    says: /header retry-after/,
    on: DISCOVERY,
    request: refuses(429, 'rate_limited', undefined),
  },
  {
    id: 'transport/429-by-date',
    breaks: 'Retry-After is a date',
    caughtBy: ['transport/overload'],
    says: /whole number of seconds/,
    on: DISCOVERY,
    request: refuses(429, 'rate_limited', 'Wed, 21 Oct 2026 07:28:00 GMT'),
  },
  {
    id: 'transport/429-own-code',
    breaks: 'a 429 has a code of the host’s own',
    caughtBy: ['transport/overload'],
    says: /code is rate_limited/,
    on: DISCOVERY,
    request: refuses(429, 'too_many_requests', '1'),
  },
  {
    id: 'transport/429-strange-scope',
    breaks: 'a 429 names a scope that the protocol does not have',
    caughtBy: ['transport/overload'],
    says: /details\.scope of a 429/,
    on: DISCOVERY,
    request: refuses(429, 'rate_limited', '1', { scope: 'planet' }),
  },
  {
    id: 'transport/429-seconds-as-ms',
    breaks: 'retryAfterMs of a 429 is in seconds',
    caughtBy: ['transport/overload'],
    says: /retryAfterMs agrees/,
    on: DISCOVERY,
    request: refuses(429, 'rate_limited', '5', { retryAfterMs: 5 }),
  },
  {
    id: 'transport/503-disagrees',
    breaks: 'the body of a 503 says another time than its header',
    caughtBy: ['transport/overload'],
    says: /details\.retryAfter of a 503/,
    on: DISCOVERY,
    request: refuses(503, 'service_unavailable', '5', { retryAfter: 1 }),
  },
  {
    id: 'transport/overload-500',
    breaks: 'a host that is asked too much fails',
    caughtBy: ['transport/overload'],
    says: /status 200 .*or 429 or 503/,
    on: DISCOVERY,
    request: refuses(500, 'internal_error', undefined),
  },
];

export const TRANSPORT_MUTANTS: readonly Mutant[] = [
  ...READ_MUTANTS,
  ...LANGUAGE_MUTANTS,
  ...METHOD_MUTANTS,
  ...REQUEST_MUTANTS,
  ...OVERLOAD_MUTANTS,
];
