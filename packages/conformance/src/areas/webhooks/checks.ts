import { createHash, createHmac } from 'node:crypto';
import { GATES } from '../../requirements/gates.ts';
import type { Check } from '../../suite/check.ts';
import { bodyOf, deliveredRun, deliveriesAbout, eventOf, receiverOf, withWebhook } from './deliveries.ts';
import { WEBHOOKS_REFUSAL_CHECKS } from './refusals.ts';

const NOOP = 'conformance-noop';
const NEEDS = { fixtures: [NOOP], peer: 'webhook' } as const;
const WINDOW_SECONDS = 300;
const HEADERS = ['webhook-id', 'event-type', 'timestamp', 'signature', 'signature-algorithm'];

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
    title: 'an event is delivered as it is in the log',
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
            'the webhook of another tenant is not notified about the run',
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

export const WEBHOOKS_CHECKS: readonly Check[] = [...WEBHOOKS_REFUSAL_CHECKS, ...DELIVERY_CHECKS];
