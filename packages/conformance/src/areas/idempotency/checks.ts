import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';
import { objectOf } from '../../suite/json-shapes.ts';
import { IDEMPOTENT_OPERATION_CHECKS } from './operations.ts';
import { createWithKey, expectFirst, expectReplay, isMarked, keyHeader, runIdOf } from './replay.ts';

const PARALLEL = 10;
const RETRIES = 5;
const LONGEST_KEY = 255;
/** The vocabulary before and after it was renamed. */
const CROSS_REGION = ['single-region', 'best-effort', 'strict', 'reconciled-records', 'fenced-effects'];
const FIXTURES = { fixtures: ['conformance-idempotent'] };

export const IDEMPOTENCY_CHECKS: readonly Check[] = [
  {
    id: 'idempotency/replay',
    title: 'a repeated request makes no second run and is answered as the first was',
    proves: ['IDEM-1', 'IDEM-2', 'IDEM-3', 'IDEM-4'],
    needs: FIXTURES,
    async run(context) {
      const { expect, unique } = context;
      const key = unique();
      const inputs = { nonce: unique() };

      const first = await createWithKey(context, key, inputs);
      const second = await createWithKey(context, key, inputs);

      expectFirst(context, first);
      expectReplay(context, first, second);
      expect.equal(second.json, first.json, 'a repeated answer has the body of the first');
      expect.equal(second.headers.get('set-cookie'), null, 'a repeated answer sets no cookie');
    },
  },
  {
    id: 'idempotency/other-body',
    title: 'a key that comes again with another body is refused',
    proves: ['IDEM-5'],
    needs: FIXTURES,
    async run(context) {
      const { expect, unique } = context;
      const key = unique();
      const first = await createWithKey(context, key, { nonce: unique() });

      const other = await createWithKey(context, key, { nonce: unique() });

      expect.envelope(other, { status: 409 });
      expect.absent(other.text, runIdOf(context, first), 'the refusal does not show the stored answer');
    },
  },
  {
    id: 'idempotency/mismatch-code',
    title: 'the refusal of a key with another body is idempotency_key_mismatch',
    proves: ['IDEM-6'],
    needs: FIXTURES,
    async run(context) {
      const { expect, unique } = context;
      const key = unique();
      expectFirst(context, await createWithKey(context, key, { nonce: unique() }));

      const other = await createWithKey(context, key, { nonce: unique() });

      expect.envelope(other, { status: 409, code: 'idempotency_key_mismatch' });
    },
  },
  {
    id: 'idempotency/canonical-body',
    title: 'another order of members is the same request',
    proves: ['IDEM-7'],
    needs: FIXTURES,
    async run(context) {
      const { host, unique } = context;
      const key = unique();
      const nonce = JSON.stringify(unique());
      const post = (rawBody: string): Promise<Answer> =>
        host.request('POST', '/v1/runs', {
          rawBody,
          headers: { ...keyHeader(key), 'content-type': 'application/json' },
        });

      const first = await post(`{"workflowId":"conformance-idempotent","inputs":{"nonce":${nonce}}}`);
      const second = await post(
        `{ "inputs": { "nonce": ${nonce} },\n "workflowId": "conformance-idempotent" }`,
      );

      expectFirst(context, first);
      expectReplay(context, first, second);
    },
  },
  {
    id: 'idempotency/other-keys',
    title: 'other keys, and requests without a key, make runs of their own',
    proves: ['IDEM-8'],
    needs: FIXTURES,
    async run(context) {
      const { runs, expect, unique } = context;
      const inputs = { nonce: unique() };

      const answers = [
        await createWithKey(context, unique(), inputs),
        await createWithKey(context, unique(), inputs),
        await runs.tryCreate('conformance-idempotent', { inputs }),
        await runs.tryCreate('conformance-idempotent', { inputs }),
      ];

      const ids = answers.map((answer) => {
        expectFirst(context, answer);
        return runIdOf(context, answer);
      });
      expect.that(new Set(ids).size === ids.length, 'each of the requests makes a run of its own', ids);
    },
  },
  {
    id: 'idempotency/other-tenant',
    title: 'a key belongs to the tenant of the credential',
    proves: ['IDEM-10'],
    needs: { ...FIXTURES, key: 'otherTenant' },
    async run(context) {
      const { keys, runs, expect, unique } = context;
      const key = unique();
      const inputs = { nonce: unique() };
      const first = await createWithKey(context, key, inputs);

      const foreign = await runs.tryCreate(
        'conformance-idempotent',
        { inputs },
        { headers: keyHeader(key), key: keys.otherTenant ?? null },
      );

      expect.that(!isMarked(foreign), "another tenant's request is not answered from the store");
      expect.absent(foreign.text, runIdOf(context, first), "another tenant does not get the first one's run");
    },
  },
  {
    id: 'idempotency/retries',
    title: 'five retries all succeed with the runId of the first',
    proves: ['IDEM-12'],
    needs: FIXTURES,
    async run(context) {
      const { unique } = context;
      const key = unique();
      const inputs = { nonce: unique() };
      const first = await createWithKey(context, key, inputs);

      for (let retry = 0; retry < RETRIES; retry += 1)
        expectReplay(context, first, await createWithKey(context, key, inputs));
    },
  },
  {
    id: 'idempotency/parallel-duplicates',
    title: 'ten parallel requests with one key make one run',
    proves: ['IDEM-13', 'IDEM-14'],
    needs: FIXTURES,
    async run(context) {
      const { expect, unique } = context;
      const key = unique();
      const inputs = { nonce: unique() };

      const answers = await Promise.all(
        Array.from({ length: PARALLEL }, () => createWithKey(context, key, inputs)),
      );

      const made = answers.filter(({ status }) => status !== 409);
      for (const answer of answers) {
        if (answer.status === 409) expectInFlight(context, answer);
        else expect.status(answer, 200, 201);
      }
      expect.that(made.length > 0, 'one of the parallel requests makes a run');
      const ids = [...new Set(made.map((answer) => runIdOf(context, answer)))];
      expect.that(ids.length === 1, 'parallel requests with one key have one runId', ids);
      expect.that(
        made.some((answer) => !isMarked(answer)),
        'the request that made the run is not marked as a repeated one',
      );
    },
  },
  {
    id: 'idempotency/parallel-keys',
    title: 'ten parallel requests with ten keys make ten runs',
    proves: ['IDEM-15'],
    needs: FIXTURES,
    async run(context) {
      const { expect, unique } = context;

      const answers = await Promise.all(
        Array.from({ length: PARALLEL }, () => createWithKey(context, unique(), { nonce: unique() })),
      );

      for (const answer of answers) {
        expect.status(answer, 201, 429, 503);
        if (answer.status !== 201) expect.header(answer, 'retry-after');
      }
      const made = answers.filter(({ status }) => status === 201).map((answer) => runIdOf(context, answer));
      expect.that(made.length > 0, 'at least one of the requests makes a run');
      expect.that(new Set(made).size === made.length, 'each key makes a run of its own', made);
    },
  },
  {
    id: 'idempotency/refusals-not-kept',
    title: 'a refusal with 400 or 401 is not kept',
    proves: ['IDEM-16', 'IDEM-17'],
    needs: FIXTURES,
    async run(context) {
      const { runs, expect, unique } = context;
      const key = unique();
      const options = { headers: keyHeader(key) };
      const wrong = await runs.tryCreate('conformance-idempotent', { inputs: 'not an object' }, options);
      expect.status(wrong, 400, 422);
      const stranger = await runs.tryCreate(
        'conformance-idempotent',
        { inputs: { nonce: unique() } },
        { ...options, key: unique('no-such-key') },
      );
      expect.status(stranger, 401);

      // A 422 is a final outcome and may be kept.
      const reused = wrong.status === 400 ? key : unique();
      const corrected = await createWithKey(context, reused, { nonce: unique() });

      expectFirst(context, corrected);
    },
  },
  {
    id: 'idempotency/forbidden-not-kept',
    title: 'a refusal with 403 is not kept',
    proves: ['IDEM-18'],
    needs: { ...FIXTURES, key: 'lowScope' },
    async run(context) {
      const { keys, runs, expect, unique } = context;
      const key = unique();
      const inputs = { nonce: unique() };
      const refused = await runs.tryCreate(
        'conformance-idempotent',
        { inputs },
        { headers: keyHeader(key), key: keys.lowScope ?? null },
      );
      expect.status(refused, 403);

      const allowed = await createWithKey(context, key, inputs);

      expectFirst(context, allowed);
    },
  },
  {
    id: 'idempotency/regions',
    title: 'what is advertised about regions is of the vocabulary',
    proves: ['IDEM-21'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/.well-known/openwop');

      const family = familyOf(answer.json, 'idempotency');
      expect.that(
        CROSS_REGION.includes(String(family['crossRegion'])),
        'idempotency.crossRegion is a word of the vocabulary',
        family['crossRegion'],
      );
      for (const name of ['layer1RetentionSeconds', 'layer2RetentionSeconds']) {
        const seconds = family[name];
        expect.that(
          seconds === undefined || (typeof seconds === 'number' && seconds > 0),
          `idempotency.${name} is a positive number`,
          seconds,
        );
      }
    },
  },
  {
    id: 'idempotency/ack-timeout',
    title: 'an advertised idempotencyAckTimeoutSec is at least 5',
    proves: ['IDEM-22'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/.well-known/openwop');

      const seconds = familyOf(answer.json, 'limits')['idempotencyAckTimeoutSec'];
      expect.that(
        seconds === undefined || (Number.isInteger(seconds) && Number(seconds) >= 5),
        'limits.idempotencyAckTimeoutSec is an integer of at least 5',
        seconds,
      );
    },
  },
  {
    id: 'idempotency/reads',
    title: 'reads take no notice of a key',
    proves: ['IDEM-23'],
    needs: { fixtures: ['conformance-delay'] },
    async run({ runs, host, expect, unique }) {
      const headers = keyHeader(unique());
      const runId = await runs.create('conformance-delay', { inputs: { delayMs: 300 } });
      await runs.reaches(runId, 'running', 'completed');
      const read = (): Promise<Answer> => host.request('GET', `/v1/runs/${runId}`, { headers });
      await read();
      await runs.ended(runId);

      const later = await read();

      expect.status(later, 200);
      const status = isJsonObject(later.json) ? later.json['status'] : undefined;
      expect.equal(status, 'completed', 'a read with a key shows what is true by then');
      expect.that(!isMarked(later), 'a read is not answered from the store');
    },
  },
  {
    id: 'idempotency/long-key',
    title: 'a key of 255 characters is taken',
    proves: ['IDEM-29'],
    needs: FIXTURES,
    async run(context) {
      const { unique } = context;
      const key = unique().padEnd(LONGEST_KEY, 'x');
      const inputs = { nonce: unique() };

      const first = await createWithKey(context, key, inputs);

      expectFirst(context, first);
      expectReplay(context, first, await createWithKey(context, key, inputs));
    },
  },
  ...IDEMPOTENT_OPERATION_CHECKS,
];

function expectInFlight({ expect }: CheckContext, answer: Answer): void {
  const { details } = expect.envelope(answer, { status: 409, code: 'idempotency_in_flight' });
  const wait = isJsonObject(details) ? details['retryAfter'] : undefined;
  expect.that(
    wait === undefined || (typeof wait === 'number' && wait > 0),
    'details.retryAfter of idempotency_in_flight is a positive number',
    wait,
  );
}

function familyOf(discovery: Json | undefined, name: string): JsonObject {
  const family = isJsonObject(discovery) ? advertised(discovery, name) : undefined;
  return objectOf(family);
}
