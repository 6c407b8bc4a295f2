import { isJsonObject, type Json } from '@weft/protocol';
import type { CreationRecord } from '../../model/run-state.ts';
import type { NewOutboxRow, StoredEvent } from '../../ports/store.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';

/**
 * The outbox rows that are written with events. A row only points to its event: what is sent is put together when it is sent,
 * so that no token and no secret ever lies in the outbox.
 */
export type OutboxRows = (record: CreationRecord, events: readonly StoredEvent[]) => readonly NewOutboxRow[];

const NONE: readonly NewOutboxRow[] = [];

export const CALLBACK_TOPIC = 'callback:';
export const WEBHOOK_TOPIC = 'webhook:';
/** Tasks of peers that are to be cancelled. */
export const PEER_TOPIC = 'peer:';

export function createOutboxRows(subscriptions: Pick<Subscriptions, 'of'>, hasPeers = false): OutboxRows {
  return (record, events) => {
    const { callbackUrl, tenant } = record;
    const known = subscriptions.of(tenant);
    if ((callbackUrl === undefined && known.length === 0 && !hasPeers) || isHistory(record)) return NONE;
    const wanted = known.filter((subscription) => wantsRun(subscription, record));
    if (callbackUrl === undefined && wanted.length === 0 && !hasPeers) return NONE;
    return events.flatMap((event) => [
      ...(callbackUrl !== undefined && event.type === 'interrupt.requested'
        ? [callbackRow(record, callbackUrl, event)]
        : []),
      ...(hasPeers && event.type === 'node.cancelled' ? [peerRow(record, event)] : []),
      ...wanted
        .filter(({ events: types }) => wantsType(types, event.type))
        .map((row) => webhookRow(record, row, event)),
    ]);
  };
}

/** The events of a replay or an import were delivered by the run that it repeats. */
function isHistory({ fork, imported }: CreationRecord): boolean {
  return fork?.mode === 'replay' || imported !== undefined;
}

function wantsRun({ tags }: Subscription, record: CreationRecord): boolean {
  return tags.length === 0 || tags.some((tag) => record.tags.includes(tag));
}

function wantsType(types: readonly string[], type: string): boolean {
  return types.includes('*') || types.includes(type);
}

function webhookRow(
  { runId }: CreationRecord,
  { webhookId }: Subscription,
  event: StoredEvent,
): NewOutboxRow {
  return {
    id: `${webhookId}.${runId}.${event.seq}`,
    topic: `${WEBHOOK_TOPIC}${webhookId}`,
    lane: `${webhookId}.${runId}`,
    dueAt: event.at,
    body: { seq: event.seq },
  };
}

/** Questions of one run do not wait for each other; those for one receiver share its topic. */
function callbackRow({ runId }: CreationRecord, callbackUrl: string, event: StoredEvent): NewOutboxRow {
  return {
    id: `callback.${runId}.${event.seq}`,
    topic: `${CALLBACK_TOPIC}${new URL(callbackUrl).origin}`,
    dueAt: event.at,
    body: { seq: event.seq },
  };
}

/** Whether the node has left a task with a peer is looked up when the row is sent. */
function peerRow({ runId }: CreationRecord, event: StoredEvent): NewOutboxRow {
  return { id: `peer.${runId}.${event.seq}`, topic: PEER_TOPIC, dueAt: event.at, body: { seq: event.seq } };
}

/** The sequence of the event that a row is about. */
export function seqOf(body: Json): number {
  const seq = isJsonObject(body) ? body['seq'] : undefined;
  if (typeof seq !== 'number') throw new Error('An outbox row names no event.');
  return seq;
}
