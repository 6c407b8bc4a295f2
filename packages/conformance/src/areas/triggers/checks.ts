import { createHash, createHmac } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';
import { isWhole } from '../../suite/json-shapes.ts';

const NOOP = 'conformance-noop';
const SUBSCRIPTIONS = '/v1/trigger-subscriptions';
const SCHEDULES = '/v1/host/weft/schedules';
const NEEDS = { fixtures: [NOOP] } as const;

const STATES = ['active', 'paused', 'failed', 'dead-lettered'];
const SOURCES = ['webhook', 'schedule', 'queue', 'email', 'form'];
const VERIFICATIONS = ['webhook-signature', 'email-dmarc', 'form-origin'];
const DURATION = /^P(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/;

interface Registered {
  readonly answer: Answer;
  readonly subscriptionId: string;
  /** On the host that is tested, whatever its public name. */
  readonly ingestPath: string;
  readonly secret: string | undefined;
}

async function register({ host, expect }: CheckContext): Promise<Registered> {
  const answer = await host.request('POST', SUBSCRIPTIONS, { body: { source: 'webhook', workflowId: NOOP } });
  expect.status(answer, 201);
  const body = expect.object(answer.json, 'a registration is answered with an object');
  const subscription = expect.object(body['subscription'], 'the answer has the subscription');
  const binding = expect.object(body['binding'], 'the answer has its binding');
  const subscriptionId = expect.string(subscription['subscriptionId'], 'a subscription has an id');
  const { pathname } = new URL(expect.string(binding['ingestUrl'], 'the binding has an ingestUrl'));
  const given = answer.headers.get('weft-trigger-secret') ?? binding['secret'];
  const secret = typeof given === 'string' ? given : undefined;
  return { answer, subscriptionId, ingestPath: pathname, secret };
}

function deliver({ host }: CheckContext, path: string, secret: string, text: string): Promise<Answer> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const mac = createHmac('sha256', secret).update(`${timestamp}.${text}`).digest('hex');
  const facts = { timestamp, signature: `sha256=${mac}`, 'signature-algorithm': 'v1' };
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const [name, value] of Object.entries(facts)) {
    headers[`openwop-${name}`] = value;
    headers[`x-openwop-${name}`] = value;
  }
  headers['openwop-delivery-id'] = createHash('sha256').update(text).digest('hex');
  return host.request('POST', path, { rawBody: text, headers, key: null });
}

/** Registers, delivers something once, and gives what both were answered with. */
async function delivered(context: CheckContext): Promise<Registered & { runId: string; text: string }> {
  const registered = await register(context);
  const { secret, ingestPath } = registered;
  if (secret === undefined) return context.notApplicable('The secret is not in the answer.');
  const text = JSON.stringify({ note: context.unique('delivery') });
  const first = await deliver(context, ingestPath, secret, text);
  context.expect.status(first, 200, 201, 202);
  const { runId } = context.expect.object(first.json, 'a delivery is answered with an object');
  return {
    ...registered,
    text,
    runId: context.expect.string(runId, 'a delivery is answered with its runId'),
  };
}

export const TRIGGERS_CHECKS: readonly Check[] = [
  {
    id: 'triggers/registration',
    title: 'a webhook subscription is active and says where to deliver',
    proves: ['TRIG-1'],
    needs: NEEDS,
    async run(context) {
      const { expect } = context;
      const first = await register(context);
      const second = await register(context);

      const { subscription } = expect.object(first.answer.json, 'an object');
      expect.equal((subscription as JsonObject)['source'], 'webhook', 'the subscription has its source');
      expect.equal((subscription as JsonObject)['state'], 'active', 'a new subscription is active');
      expect.that(first.subscriptionId !== second.subscriptionId, 'each subscription has an id of its own');
      expect.that(first.ingestPath !== second.ingestPath, 'each subscription has a URL of its own');
    },
  },
  {
    id: 'triggers/registration-refused',
    title: 'a registration that is not as declared is refused',
    proves: ['TRIG-2', 'TRIG-3', 'TRIG-5'],
    needs: NEEDS,
    async run({ host, expect, unique }) {
      const register = (body: object, key?: null) =>
        host.request('POST', SUBSCRIPTIONS, { body, ...(key === null && { key }) });
      const wrong = [
        { source: 'webhook' },
        { source: 'pigeon', workflowId: NOOP },
        { source: 'webhook', workflowId: NOOP, unknownMember: 1 },
      ];
      for (const body of wrong) expect.envelope(await register(body), { status: 400 });
      expect.envelope(await register({ source: 'webhook', workflowId: NOOP }, null), { status: 401 });
      const nowhere = await register({ source: 'webhook', workflowId: unique('nowhere') });
      expect.status(nowhere, 400, 403, 404, 422);
    },
  },
  {
    id: 'triggers/scope',
    title: 'a registration needs webhooks:manage',
    proves: ['TRIG-4'],
    needs: { ...NEEDS, key: 'lowScope' },
    async run({ host, expect, keys }) {
      const body = { source: 'webhook', workflowId: NOOP };
      const answer = await host.request('POST', SUBSCRIPTIONS, { body, key: keys.lowScope ?? '' });

      expect.envelope(answer, { status: 403, code: 'forbidden' });
    },
  },
  {
    id: 'triggers/delivery',
    title: 'a signed delivery starts one run',
    proves: ['TRIG-6', 'TRIG-8'],
    needs: NEEDS,
    async run(context) {
      const { runs, expect } = context;
      const { runId, text, ingestPath, secret = '', subscriptionId } = await delivered(context);

      const again = await deliver(context, ingestPath, secret, text);
      const other = await deliver(
        context,
        ingestPath,
        secret,
        JSON.stringify({ note: context.unique('other') }),
      );

      const runIdOf = ({ json }: Answer): Json | undefined =>
        isJsonObject(json) ? json['runId'] : undefined;
      expect.status(again, 200, 201, 202);
      expect.that(
        [undefined, runId].includes(runIdOf(again) as string | undefined),
        'the same delivery again starts no other run',
        runIdOf(again) ?? 'no run',
      );
      expect.that(runIdOf(other) !== runId, 'another delivery starts another run');
      const snapshot = await runs.ended(runId);
      expect.equal(snapshot['workflowId'], NOOP, 'the run is one of the bound workflow');
      const log = await runs.events(runId);
      const started = log.find(({ type }) => type === 'run.started') ?? {};
      expect.string(started['causationId'], 'run.started has the delivery as its causationId');
      const attempted = log.find(({ type }) => type === 'trigger.delivery.attempted');
      const payload = expect.object(attempted?.['payload'], 'the log has trigger.delivery.attempted');
      expect.equal(payload['outcome'], 'delivered', 'the outcome of the attempt is delivered');
      expect.equal(payload['subscriptionId'], subscriptionId, 'the attempt names the subscription');
    },
  },
  {
    id: 'triggers/verification',
    title: 'a delivery with a wrong signature starts nothing and learns nothing',
    proves: ['TRIG-7'],
    needs: NEEDS,
    async run(context) {
      const { expect } = context;
      const { ingestPath, subscriptionId } = await register(context);
      const unknown = ingestPath.replace(encodeURIComponent(subscriptionId), 'no-such-subscription');

      const forged = await deliver(context, ingestPath, 'not the secret', '{}');
      const lost = await deliver(context, unknown, 'not the secret', '{}');

      expect.status(forged, 401, 403, 404);
      expect.equal(forged.status, lost.status, 'a wrong signature and an unknown address are answered alike');
      expect.equal(forged.json, lost.json, 'and with the same words');
    },
  },
  {
    id: 'triggers/capabilities',
    title: 'what is advertised about triggers, schedules and dead letters is of the protocol',
    proves: ['TRIG-9', 'TRIG-10', 'TRIG-12'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/.well-known/openwop', { key: null });
      expect.status(answer, 200);
      const discovery = expect.object(answer.json, 'discovery is a JSON object');
      const lists: [string, readonly string[]][] = [
        ['triggerBridge.subscriptionStates', STATES],
        ['triggerBridge.sources', SOURCES],
        ['triggerBridge.ingestion.verification', VERIFICATIONS],
      ];
      for (const [path, allowed] of lists) {
        const value = advertised(discovery, path);
        if (value === undefined) continue;
        const strange = expect
          .array(value, `${path} is a list`)
          .filter((each) => !allowed.includes(String(each)));
        expect.equal(strange, [], `${path} lists words of the protocol alone`);
      }
      const horizon = advertised(discovery, 'scheduling.maxFutureHorizon');
      if (horizon !== undefined)
        expect.that(DURATION.test(String(horizon)), 'maxFutureHorizon is an ISO 8601 duration', horizon);
      const days = advertised(discovery, 'deadLetter.retentionDays');
      if (days !== undefined) expect.that(isWhole(days, 1), 'retentionDays is a whole number from 1', days);
    },
  },
  {
    id: 'triggers/schedule',
    title: 'a schedule starts one run for each time that it is due',
    proves: ['TRIG-11'],
    needs: NEEDS,
    timeoutMs: 30_000,
    async run(context) {
      const { host, expect, unique, eventually } = context;
      const name = unique('tick')
        .toLowerCase()
        .replaceAll(/[^a-z0-9-]/g, '-');
      const body = { name, workflowId: NOOP, everyMs: 1_000 };
      const made = await host.request('POST', SCHEDULES, { body });
      if (made.status === 404)
        return context.notApplicable('The host has no operation that makes a schedule.');
      expect.status(made, 201);
      try {
        const firings = await eventually('a schedule of one second fires three times', async () => {
          const { json } = await host.request('GET', `${SCHEDULES}/${name}`);
          const found = isJsonObject(json) && Array.isArray(json['firings']) ? json['firings'] : [];
          return found.length >= 3 ? found.filter(isJsonObject) : undefined;
        });
        const started = firings.filter(({ outcome }) => outcome === 'started');
        const dues = started.map(({ dueAt }) => String(dueAt));
        const ids = started.map(({ runId }) => String(runId));
        expect.that(started.length > 0, 'a due time starts a run');
        expect.equal(new Set(dues).size, dues.length, 'no due time starts two runs');
        expect.equal(new Set(ids).size, ids.length, 'each due time has a run of its own');
        const apart = dues.map((due) => Date.parse(due)).sort((a, b) => a - b);
        const uneven = apart.filter((due, at) => at > 0 && (due - (apart[at - 1] ?? 0)) % 1_000 !== 0);
        expect.equal(uneven, [], 'due times are a multiple of the interval apart');
      } finally {
        await host.request('DELETE', `${SCHEDULES}/${name}`);
      }
    },
  },
];
