import { createHash, createHmac } from 'node:crypto';
import { advertised, GATES } from '../requirements/gates.ts';
import type { Check, CheckContext } from '../suite/check.ts';
import {
  bodyOf,
  deliveredRun,
  deliveriesAbout,
  eventOf,
  receiverOf,
  withWebhook,
} from './webhooks-deliveries.ts';

const NOOP = 'conformance-noop';
const NEEDS = { fixtures: [NOOP], peer: 'webhook' } as const;
const WINDOW_SECONDS = 300;
const HEADERS = ['webhook-id', 'event-type', 'timestamp', 'signature', 'signature-algorithm'];

const REFUSED_URLS = [
  'https://127.0.0.1/hook',
  'https://localhost/hook',
  'https://[::1]/hook',
  'https://10.0.0.1/hook',
  'https://172.16.0.1/hook',
  'https://172.31.255.254/hook',
  'https://192.168.0.1/hook',
  'https://169.254.169.254/latest/meta-data',
  'https://[fe80::1]/hook',
  'https://[fc00::1]/hook',
  'https://[fd12:3456::1]/hook',
  'https://metadata.google.internal/hook',
  'https://metadata/hook',
];
const REFUSED_SPELLINGS = [
  'https://2130706433/hook',
  'https://0x7f000001/hook',
  'https://0177.0.0.1/hook',
  'https://127.1/hook',
  'https://[::ffff:127.0.0.1]/hook',
  'https://[::ffff:a00:1]/hook',
  'https://[0:0:0:0:0:0:0:1]/hook',
  'https://LOCALHOST./hook',
];

/** With a tag that no run has, so that a host that wrongly takes it sends nothing anywhere. */
function tryRegister({ host, unique }: CheckContext, body: object, options: { key?: string | null } = {}) {
  return host.request('POST', '/v1/webhooks', {
    ...options,
    body: { url: 'https://example.com/hook', events: ['run.completed'], tags: [unique()], ...body },
  });
}

const REFUSAL_CHECKS: readonly Check[] = [
  {
    id: 'webhooks/no-url',
    title: 'a webhook needs a URL',
    proves: ['HOOK-1'],
    async run(context) {
      const answer = await tryRegister(context, { url: 'this is no URL' });

      context.expect.envelope(answer, { status: [400, 403, 404, 405, 422] });
    },
  },
  {
    id: 'webhooks/delete-unknown',
    title: 'an unknown webhook can be deleted, or is not found',
    proves: ['HOOK-2'],
    async run({ host, expect, unique }) {
      const answer = await host.request('DELETE', `/v1/webhooks/${unique()}`);

      if (answer.status === 204) return expect.status(answer, 204);
      expect.envelope(answer, { status: [403, 404] });
    },
  },
  {
    id: 'webhooks/https-only',
    title: 'only https URLs can be registered',
    proves: ['HOOK-3'],
    async run(context) {
      for (const url of ['http://example.com/hook', 'ftp://example.com/hook', 'file:///etc/passwd'])
        context.expect.envelope(await tryRegister(context, { url }), { status: [400, 403, 422] });
    },
  },
  {
    id: 'webhooks/private-addresses',
    title: 'addresses that are not public cannot be registered',
    proves: ['HOOK-4'],
    async run(context) {
      await expectRefused(context, REFUSED_URLS);
    },
  },
  {
    id: 'webhooks/spellings-of-addresses',
    title: 'addresses that are not public cannot be registered in any spelling',
    proves: ['HOOK-5'],
    async run(context) {
      await expectRefused(context, REFUSED_SPELLINGS);
    },
  },
  {
    id: 'webhooks/incomplete',
    title: 'a registration has events, and no members that are not declared',
    proves: ['HOOK-6'],
    async run(context) {
      for (const body of [
        { events: undefined },
        { events: [] },
        { events: 'run.completed' },
        { evnets: ['run.failed'] },
      ])
        context.expect.envelope(await tryRegister(context, body), { status: 400 });
    },
  },
  {
    id: 'webhooks/no-credential',
    title: 'a registration needs a credential',
    proves: ['HOOK-7'],
    async run(context) {
      context.expect.envelope(await tryRegister(context, {}, { key: null }), { status: 401 });
    },
  },
  {
    id: 'webhooks/low-scope',
    title: 'a registration needs the scope webhooks:manage',
    proves: ['HOOK-8'],
    needs: { key: 'lowScope' },
    async run(context) {
      const answer = await tryRegister(context, {}, { key: context.keys.lowScope ?? null });

      context.expect.envelope(answer, { status: 403 });
    },
  },
  {
    id: 'webhooks/another-tenant-named',
    title: 'a registration for a tenant of others is refused',
    proves: ['HOOK-9'],
    async run(context) {
      const answer = await tryRegister(context, { tenantId: context.unique('tenant') });

      context.expect.envelope(answer, { status: [400, 403, 404] });
    },
  },
  {
    id: 'webhooks/discovery',
    title: 'discovery has the signature algorithm v1',
    proves: ['HOOK-10'],
    async run({ host, expect }) {
      const { json } = await host.request('GET', '/.well-known/openwop', { key: null });

      const discovery = expect.object(json, 'discovery is an object');
      const algorithms = advertised(discovery, 'webhooks.signatureAlgorithms');
      expect.that(
        algorithms === undefined || (Array.isArray(algorithms) && algorithms.includes('v1')),
        'webhooks.signatureAlgorithms is a list with v1',
        algorithms,
      );
    },
  },
];

async function expectRefused(context: CheckContext, urls: readonly string[]): Promise<void> {
  const { expect } = context;
  for (const url of urls) {
    const answer = await tryRegister(context, { url });
    expect.that(answer.status !== 201 && answer.status !== 200, `${url} is refused`, answer.status);
    expect.envelope(answer, { status: [400, 403, 422] });
  }
}

const DELIVERY_CHECKS: readonly Check[] = [
  {
    id: 'webhooks/registration',
    title: 'a registration is answered with a secret, once',
    proves: ['HOOK-11', 'HOOK-24'],
    needs: NEEDS,
    async run(context) {
      const { expect } = context;
      await withWebhook(context, {}, async (webhook) => {
        const { secret, answer } = webhook;
        expect.that(
          /^[0-9a-f]{64}$/i.test(secret),
          'a secret has 64 hexadecimal digits',
          `${secret.length} characters`,
        );
        const fingerprint = createHash('sha256').update(secret).digest('hex').slice(0, 8);
        expect.equal(
          answer['secretFingerprint'],
          fingerprint,
          'secretFingerprint has the first 8 digits of the SHA-256 of the secret',
        );
        await withWebhook(context, {}, async (other) => {
          expect.that(other.secret !== secret, 'each registration has a secret of its own');
        });
        await deliveredRun(context, webhook);
        for (const delivery of receiverOf(context).deliveriesTo(webhook.url))
          expect.absent(JSON.stringify(delivery), secret, 'no delivery has the secret of its webhook');
      });
    },
  },
  {
    id: 'webhooks/delivery',
    title: 'an event is delivered as it stands in the log',
    proves: ['HOOK-12'],
    needs: NEEDS,
    async run(context) {
      const { runs, expect } = context;
      await withWebhook(context, {}, async (webhook) => {
        const runId = await deliveredRun(context, webhook);

        const [delivery] = deliveriesAbout(context, webhook, runId);

        expect.that(
          delivery?.headers['content-type']?.startsWith('application/json') === true,
          'a delivery is application/json',
          delivery?.headers['content-type'],
        );
        if (delivery === undefined) return;
        expect.string(bodyOf(delivery)['workspaceId'], 'a delivery has a workspaceId');
        const delivered = eventOf(delivery);
        const logged = (await runs.events(runId)).find(({ eventId }) => eventId === delivered['eventId']);
        expect.equal(delivered, logged, 'the event that is delivered is the one in the log');
      });
    },
  },
  {
    id: 'webhooks/signature',
    title: 'a delivery is signed',
    proves: ['HOOK-13', 'HOOK-14', 'HOOK-15'],
    needs: NEEDS,
    async run(context) {
      const { expect } = context;
      await withWebhook(context, {}, async (webhook) => {
        const runId = await deliveredRun(context, webhook);

        const [delivery] = deliveriesAbout(context, webhook, runId);

        const { headers = {}, rawBody = '' } = delivery ?? {};
        const values: Readonly<Record<string, string | undefined>> = headers;
        expect.equal(
          values['x-openwop-webhook-id'],
          webhook.webhookId,
          'X-openwop-Webhook-Id names the webhook',
        );
        expect.equal(
          values['x-openwop-event-type'],
          'run.completed',
          'X-openwop-Event-Type names the event type',
        );
        expect.equal(values['x-openwop-signature-algorithm'], 'v1', 'X-openwop-Signature-Algorithm is v1');
        expect.that(
          values['user-agent']?.startsWith('openwop-webhook-dispatcher/') === true,
          'the User-Agent begins with openwop-webhook-dispatcher/',
          values['user-agent'] ?? 'nothing',
        );
        const timestamp = values['x-openwop-timestamp'] ?? '';
        expect.that(/^\d{1,12}$/.test(timestamp), 'X-openwop-Timestamp is a number of seconds', timestamp);
        expect.that(
          Math.abs(Date.now() / 1_000 - Number(timestamp)) <= WINDOW_SECONDS,
          `X-openwop-Timestamp is at most ${WINDOW_SECONDS} seconds from now`,
          timestamp,
        );
        const mac = createHmac('sha256', webhook.secret).update(`${timestamp}.${rawBody}`).digest('hex');
        expect.equal(
          values['x-openwop-signature'],
          `sha256=${mac}`,
          'X-openwop-Signature is the HMAC-SHA256 of timestamp, dot and body under the secret',
        );
      });
    },
  },
  {
    id: 'webhooks/newer-headers',
    title: 'the headers of a delivery have newer twins',
    proves: ['HOOK-23'],
    needs: NEEDS,
    async run(context) {
      const { expect } = context;
      await withWebhook(context, {}, async (webhook) => {
        const runId = await deliveredRun(context, webhook);

        const [delivery] = deliveriesAbout(context, webhook, runId);

        for (const name of HEADERS)
          expect.equal(
            delivery?.headers[`openwop-${name}`],
            delivery?.headers[`x-openwop-${name}`],
            `openwop-${name} has the value of x-openwop-${name}`,
          );
      });
    },
  },
  {
    id: 'webhooks/filters',
    title: 'a webhook receives the events and runs that it asked for',
    proves: ['HOOK-16', 'HOOK-17'],
    needs: NEEDS,
    async run(context) {
      const { expect, unique } = context;
      const tag = unique('tag');
      await withWebhook(context, {}, async (all) => {
        await withWebhook(context, { tags: [tag] }, async (webhook) => {
          const other = await deliveredRun(context, all, { tags: [unique('tag')] });

          const own = await deliveredRun(context, webhook, { tags: ['another', tag] });

          expect.equal(
            deliveriesAbout(context, webhook, other).length,
            0,
            'no event of a run without the tag is delivered',
          );
          for (const delivery of deliveriesAbout(context, webhook, own))
            expect.equal(
              eventOf(delivery)['type'],
              'run.completed',
              'only registered event types are delivered',
            );
        });
      });
    },
  },
  {
    id: 'webhooks/delete',
    title: 'a deleted webhook receives nothing more',
    proves: ['HOOK-18'],
    needs: NEEDS,
    async run(context) {
      const { host, expect } = context;
      await withWebhook(context, {}, async (control) => {
        await withWebhook(context, {}, async (webhook) => {
          await deliveredRun(context, webhook);

          expect.status(await host.request('DELETE', `/v1/webhooks/${webhook.webhookId}`), 204);

          const later = await deliveredRun(context, control);
          await deliveredRun(context, control);
          expect.equal(
            deliveriesAbout(context, webhook, later).length,
            0,
            'nothing is delivered after the deletion',
          );
        });
      });
    },
  },
  {
    id: 'webhooks/redirect',
    title: 'a delivery follows no redirect',
    proves: ['HOOK-19'],
    needs: NEEDS,
    async run(context) {
      const { expect } = context;
      const target = receiverOf(context).newUrl();
      const url = receiverOf(context).newUrl(target);
      await withWebhook(context, {}, async (control) => {
        await withWebhook(context, { url }, async (webhook) => {
          await deliveredRun(context, webhook);

          await deliveredRun(context, control);

          const followed = receiverOf(context).deliveriesTo(target);
          expect.equal(followed.length, 0, 'nothing arrives where the redirect leads');
        });
      });
    },
  },
  {
    id: 'webhooks/tenant-scope',
    title: 'a webhook receives nothing of other tenants',
    proves: ['HOOK-20', 'HOOK-21'],
    needs: { ...NEEDS, key: 'otherTenant' },
    async run(context) {
      const { host, expect, keys } = context;
      const key = keys.otherTenant ?? '';
      await withWebhook(context, {}, async (own) => {
        await withWebhook(context, { key }, async (theirs) => {
          const runId = await deliveredRun(context, own);
          const answer = await host.request('DELETE', `/v1/webhooks/${own.webhookId}`, { key });

          await deliveredRun(context, own);

          expect.status(answer, 204, 403, 404);
          expect.equal(
            deliveriesAbout(context, theirs, runId).length,
            0,
            'the webhook of another tenant is not told about the run',
          );
        });
      });
    },
  },
  {
    id: 'webhooks/replay',
    title: 'a replay delivers nothing',
    proves: ['HOOK-22'],
    needs: NEEDS,
    async run(context) {
      const { runs, expect, discovery } = context;
      await withWebhook(context, {}, async (webhook) => {
        const source = await deliveredRun(context, webhook);

        const answer = await runs.fork(source, { mode: 'replay', fromSeq: 0 });

        if (!GATES.replay.isOpen(discovery)) return expect.status(answer, 404, 501);
        expect.status(answer, 200, 201);
        const forked = expect.object(answer.json, 'a fork is answered with an object');
        const replay = expect.string(forked['runId'], 'a fork has a runId');
        await runs.ended(replay);
        await deliveredRun(context, webhook);
        expect.equal(
          deliveriesAbout(context, webhook, replay).length,
          0,
          'nothing is delivered about a replay',
        );
      });
    },
  },
];

export const WEBHOOKS_CHECKS: readonly Check[] = [...REFUSAL_CHECKS, ...DELIVERY_CHECKS];
