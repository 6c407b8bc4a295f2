import type { Json, JsonObject } from '@weft/protocol';
import type { Delivery, WebhookReceiver } from '../../peers/webhook-receiver.ts';
import type { CheckContext } from '../../suite/check.ts';
import { objectOf } from '../../suite/json-shapes.ts';

export interface Webhook {
  readonly url: string;
  readonly webhookId: string;
  readonly secret: string;
  readonly answer: JsonObject;
}

export interface Registration {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly tags?: readonly string[];
  /** Another key than the suite's own. */
  readonly key?: string;
}

export function receiverOf({ peers }: CheckContext): WebhookReceiver {
  if (peers.webhook === undefined)
    throw new Error('The check does not say that it needs the receiver of webhooks.');
  return peers.webhook;
}

/** Registers a webhook for as long as the work lasts. */
export async function withWebhook(
  context: CheckContext,
  { url = receiverOf(context).newUrl(), events = ['run.completed'], tags, key }: Registration,
  work: (webhook: Webhook) => Promise<void>,
): Promise<void> {
  const { host, expect } = context;
  const options = key === undefined ? {} : { key };
  const body = { url, events, ...(tags === undefined ? {} : { tags }) };
  const answer = await host.request('POST', '/v1/webhooks', { ...options, body });
  expect.status(answer, 201);
  const registered = expect.object(answer.json, 'a registration is answered with an object');
  const webhookId = expect.string(registered['webhookId'], 'a registration is answered with a webhookId');
  const secret = expect.string(registered['secret'], 'a registration is answered with a secret');
  try {
    await work({ url, webhookId, secret, answer: registered });
  } finally {
    await host.request('DELETE', `/v1/webhooks/${webhookId}`, options);
  }
}

/** What has arrived about a run so far. */
export function deliveriesAbout(
  context: CheckContext,
  { url }: Pick<Webhook, 'url'>,
  runId: string,
): Delivery[] {
  return receiverOf(context)
    .deliveriesTo(url)
    .filter((delivery) => bodyOf(delivery)['runId'] === runId);
}

export function bodyOf({ rawBody }: Delivery): JsonObject {
  try {
    const body = JSON.parse(rawBody) as Json;
    return objectOf(body);
  } catch {
    return {};
  }
}

export function eventOf(delivery: Delivery): JsonObject {
  const { event } = bodyOf(delivery);
  return objectOf(event);
}

/** Runs something and waits until the webhook got its completion. */
export async function deliveredRun(
  context: CheckContext,
  webhook: Webhook,
  rest: object = {},
): Promise<string> {
  const { runs, eventually } = context;
  const runId = await runs.endedRun('conformance-noop', rest);
  await eventually('run.completed is delivered', async () =>
    deliveriesAbout(context, webhook, runId).find(
      (delivery) => eventOf(delivery)['type'] === 'run.completed',
    ),
  );
  return runId;
}
