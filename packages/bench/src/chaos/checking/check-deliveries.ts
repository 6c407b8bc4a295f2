import { createHmac } from 'node:crypto';
import { isTerminalStatus } from '@weft/engine';
import type { EventDocument, History, SeenDelivery, WebhookReceipt } from './history.ts';
import { CALLBACK_PATH } from '../workload/webhook-receiver.ts';
import type { Check, ReadRun } from './rules.ts';
import { CALLBACK_GATE } from '../workload/workflows.ts';

/** Webhooks and callbacks, as the receiver has seen them. */

interface Delivered {
  readonly runId: string;
  readonly event: EventDocument;
}

const isAccepted = ({ status }: SeenDelivery): boolean => status >= 200 && status < 300;

export function deliveriesValid({ history, runs, fact, report }: Check): void {
  const secrets = new Map(history.webhooks.map(({ webhookId, secret }) => [webhookId, secret]));
  for (const delivery of history.deliveries) {
    if (delivery.path === CALLBACK_PATH) continue;
    fact('C16');
    const { webhookId, body } = delivery;
    const secret = secrets.get(webhookId);
    if (!secrets.has(webhookId)) report('C16', `${webhookId} is no registered webhook`);
    if (secret !== undefined && !isSigned(delivery, secret))
      report('C16', `a delivery to ${webhookId} is signed wrongly: ${body}`);
    const { runId, event } = JSON.parse(body) as Delivered;
    const run = runs.get(runId);
    if (run === undefined) continue;
    if (run.fork?.mode === 'replay' || run.isImported === true)
      report('C16', `event ${event.sequence} of a replay or import was delivered`, runId);
    if (run.log[event.sequence] !== JSON.stringify(event))
      report('C16', `event ${event.sequence} was delivered as ${JSON.stringify(event)}`, runId);
  }
}

function isSigned({ timestamp, signature, body }: SeenDelivery, secret: string): boolean {
  return signature === `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

/** Deliveries that are still to come, as `WEBHOOK.RUN.SEQUENCE`. */
export function missingDeliveries(
  history: Pick<History, 'webhooks' | 'deliveries'>,
  runs: Iterable<ReadRun>,
  onExpected: () => void = () => undefined,
): string[] {
  const arrived = new Set(
    history.deliveries.filter((each) => isAccepted(each) && each.path !== CALLBACK_PATH).map(idOf),
  );
  const missing: string[] = [];
  for (const run of runs) {
    const isDelivered = run.fork?.mode !== 'replay' && run.isImported !== true;
    for (const webhook of isDelivered ? history.webhooks : []) {
      for (const { sequence } of expectedOf(run, webhook)) {
        onExpected();
        const id = `${webhook.webhookId}.${run.runId}.${sequence}`;
        if (!arrived.has(id)) missing.push(id);
      }
    }
  }
  return missing;
}

/** Events before the cut were delivered for the source run. */
function expectedOf(run: ReadRun, { events, tags }: WebhookReceipt): EventDocument[] {
  if (tags.length > 0 && !tags.some((tag) => run.tags.includes(tag))) return [];
  return run.events
    .slice(run.fork?.fromSeq ?? 0)
    .filter(({ type }) => events.includes(type) || events.includes('*'));
}

function idOf({ webhookId, body }: SeenDelivery): string {
  const { runId, event } = JSON.parse(body) as Delivered;
  return `${webhookId}.${runId}.${event.sequence}`;
}

export function deliveredOnceAtLeast({ history, runs, fact, report }: Check): void {
  for (const id of missingDeliveries(history, runs.values(), () => fact('C17')))
    report('C17', `${id} was never delivered`, id.split('.')[1]);
}

/** One that was given up lets the later ones pass. */
export function deliveredInOrder({ history, fact, report }: Check): void {
  const dead = new Set(history.dead.map(({ deliveryId }) => deliveryId));
  const waiting = new Map<string, { readonly id: string; readonly sequence: number }>();
  const accepted = new Set<string>();
  for (const delivery of history.deliveries) {
    if (delivery.path === CALLBACK_PATH) continue;
    fact('C18');
    const { runId, event } = JSON.parse(delivery.body) as Delivered;
    const id = idOf(delivery);
    const lane = `${delivery.webhookId}.${runId}`;
    const before = waiting.get(lane);
    if (
      before !== undefined &&
      before.sequence < event.sequence &&
      !accepted.has(before.id) &&
      !dead.has(before.id)
    )
      report('C18', `${id} came while ${before.id} was still to be taken`, runId);
    if (isAccepted(delivery)) accepted.add(id);
    else if (!accepted.has(id)) waiting.set(lane, { id, sequence: event.sequence });
  }
}

export function callbacksSent({ history, runs, fact, report }: Check): void {
  for (const delivery of history.deliveries) {
    if (delivery.path !== CALLBACK_PATH) continue;
    fact('C19');
    if (!isSigned(delivery, history.callbackSecret))
      report('C19', `a callback is signed wrongly: ${delivery.body}`);
    const { runId, interruptId } = JSON.parse(delivery.body) as { runId: string; interruptId: string };
    const run = runs.get(runId);
    if (run === undefined) continue;
    const isAsked = run.events.some(
      ({ type, payload }) => type === 'interrupt.requested' && payload['interruptId'] === interruptId,
    );
    if (!isAsked || run.fork?.mode === 'replay')
      report('C19', `${interruptId} was sent as a callback, but the run did not request it`, runId);
  }
  for (const { runId, status, events, fork, isImported } of runs.values()) {
    const asks = events.some(({ type, nodeId }) => type === 'interrupt.requested' && usesCallback(nodeId));
    if (!asks || fork !== undefined || isImported === true) continue;
    fact('C19');
    if (!isTerminalStatus(status)) report('C19', 'no callback was sent, so the interrupt is open', runId);
  }
}

function usesCallback(nodeId: string | undefined): boolean {
  return nodeId?.startsWith(CALLBACK_GATE) === true;
}
