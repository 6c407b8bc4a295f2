import type { Documents, OutboxRow, RunLog } from '../../ports/store.ts';
import { toWireEvent } from '../streams/wire-event.ts';
import type { Render } from './delivery.ts';
import { seqOf, WEBHOOK_TOPIC } from './rows.ts';
import { fromStored, type Sealing } from './sealing.ts';
import { type Subscription, WEBHOOKS } from './subscriptions.ts';

export interface WebhookDependencies {
  readonly store: RunLog & Documents;
  readonly sealing?: Sealing | undefined;
}

/** The message of a webhook row: the event exactly as it stands on every other wire. Nothing when the webhook is gone. */
export function createWebhookRender({ store, sealing }: WebhookDependencies): Render {
  return async (row: OutboxRow) => {
    const webhookId = row.topic.slice(WEBHOOK_TOPIC.length);
    const run = await store.readRun(row.runId, undefined);
    if (run === undefined) return undefined;
    const { tenant } = run.record;
    // Read again for every delivery, so that a removed webhook gets nothing more, whichever process removed it.
    const document = await store.readDocument({ tenant, collection: WEBHOOKS, scope: '', id: webhookId });
    const [event] = await store.readEvents(row.runId, seqOf(row.body), 1, 1);
    if (document === undefined || event === undefined) return undefined;
    const { url, secret } = JSON.parse(document.body) as Subscription;
    const head = JSON.stringify({ runId: row.runId, workspaceId: tenant });
    return {
      tenant,
      url,
      webhookId,
      eventType: event.type,
      body: `${head.slice(0, -1)},"event":${toWireEvent(run.record, event).document}}`,
      secret: fromStored(sealing, { tenant, id: webhookId }, secret),
    };
  };
}
