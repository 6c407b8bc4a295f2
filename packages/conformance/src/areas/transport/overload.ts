import { isJsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';
import { objectOf } from '../../suite/json-shapes.ts';
import { askDiscovery } from '../discovery/document.ts';

/** Half of it without a key, half with one: enough for a host that limits its callers tightly, and nothing to one that does not. */
const BURST = 50;
const AT_ONCE = 10;
const LIMIT_SCOPES = ['tenant', 'route', 'global', 'key'];
/** Retry-After is rounded to seconds, and the two may be taken a moment apart. */
const TOLERATED_MS = 1_500;

export const OVERLOAD_CHECKS: readonly Check[] = [
  {
    id: 'transport/overload',
    title: 'a burst of requests is answered, or refused as the protocol says',
    proves: ['HTTP-15', 'HTTP-16', 'HTTP-17'],
    isAlone: true,
    async run(context) {
      const { host, expect, unique } = context;

      for (let sent = 0; sent < BURST; sent += AT_ONCE) {
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, (_, index) =>
            index % 2 === 0 ? askDiscovery(context) : host.request('GET', `/v1/runs/${unique()}`),
          ),
        );
        for (const answer of answers) {
          expect.status(answer, 200, 403, 404, 429, 503);
          if (answer.status === 429) expectRateLimited(context, answer);
          if (answer.status === 503) expectUnavailable(context, answer);
        }
      }
    },
  },
];

function expectRateLimited(context: CheckContext, answer: Answer): void {
  const { expect } = context;
  const envelope = expect.envelope(answer, { status: 429, code: 'rate_limited' });
  const seconds = retryAfter(context, answer);
  const details = objectOf(envelope['details']);
  const { scope, retryAfterMs } = details;
  if (scope !== undefined)
    expect.that(
      typeof scope === 'string' && LIMIT_SCOPES.includes(scope),
      `details.scope of a 429 is ${LIMIT_SCOPES.join(', ')}`,
      scope,
    );
  if (retryAfterMs === undefined) return;
  const ms = expect.integer(retryAfterMs, 'details.retryAfterMs is a whole number');
  expect.that(
    Math.abs(ms - seconds * 1_000) <= TOLERATED_MS,
    'details.retryAfterMs agrees with Retry-After',
    {
      retryAfterMs: ms,
      retryAfter: seconds,
    },
  );
}

function expectUnavailable(context: CheckContext, answer: Answer): void {
  const { expect } = context;
  const { details } = expect.envelope(answer, { status: 503, code: 'service_unavailable' });
  const seconds = retryAfter(context, answer);
  const given = isJsonObject(details) ? details['retryAfter'] : undefined;
  if (given !== undefined) expect.equal(given, seconds, 'details.retryAfter of a 503 is that of Retry-After');
}

function retryAfter({ expect }: CheckContext, answer: Answer): number {
  const header = expect.header(answer, 'retry-after');
  expect.that(/^[1-9]\d*$/.test(header), 'Retry-After is a whole number of seconds above 0', header);
  return Number(header);
}
