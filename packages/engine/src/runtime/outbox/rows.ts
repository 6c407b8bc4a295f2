import { isJsonObject, type Json } from '@weft/protocol';
import type { CreationRecord } from '../../model/run-state.ts';
import type { EnqueuedRow, NewOutboxRow, StoredEvent } from '../../ports/store.ts';
import { isTask, type StoredPush } from '../peers/stored-push.ts';
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
/** Changes of tasks, before their receivers are known. */
export const TASK_TOPIC = 'task:';
export const PUSH_TOPIC = 'push:';

export interface RowSources {
  readonly subscriptions: Pick<Subscriptions, 'of'>;
  /** Nodes may have left tasks with peers. */
  readonly hasPeers: boolean;
  /** Agents of other hosts may want to know how their tasks stand. */
  readonly tellsTasks: boolean;
}

export function createOutboxRows({ subscriptions, hasPeers, tellsTasks }: RowSources): OutboxRows {
  return (record, events) => {
    const { callbackUrl, tenant } = record;
    const known = subscriptions.of(tenant);
    const isTold = tellsTasks && isTask(record);
    const isTracked = callbackUrl !== undefined || hasPeers || isTold;
    if ((!isTracked && known.length === 0) || isHistory(record)) return NONE;
    const wanted = known.filter((subscription) => wantsRun(subscription, record));
    if (!isTracked && wanted.length === 0) return NONE;
    return events.flatMap((event) => [
      ...(isTold && CHANGES_TASK.has(event.type) ? [changeRow(record, event)] : []),
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

const ENDS = new Set(['run.completed', 'run.failed', 'run.cancelled']);
/** Events after which a task has another state, or asks for something else. */
const CHANGES_TASK = new Set(['run.started', 'interrupt.requested', 'interrupt.resolved', ...ENDS]);

export function isTaskEnd(type: string): boolean {
  return ENDS.has(type);
}

function taskLane({ tenant, runId }: CreationRecord) {
  return { topic: `${TASK_TOPIC}${tenant}`, lane: `task.${runId}` };
}

/** Who wants to know of it is looked up when its turn comes. */
function changeRow(record: CreationRecord, { seq, at }: StoredEvent): NewOutboxRow {
  return { id: `task.${record.runId}.${seq}`, ...taskLane(record), dueAt: at, body: { seq } };
}

/** A receiver that is to be told from now on. */
export function attachRow(record: CreationRecord, pushId: string, dueAt: number, mark: string): EnqueuedRow {
  const { runId } = record;
  return { id: `task.${runId}.${mark}`, runId, ...taskLane(record), dueAt, body: { push: pushId } };
}

export function pushRow(
  { runId }: CreationRecord,
  { pushId, url }: Pick<StoredPush, 'pushId' | 'url'>,
  seq: number,
  dueAt: number,
): EnqueuedRow {
  return {
    id: `push.${runId}.${seq}.${pushId}`,
    runId,
    topic: `${PUSH_TOPIC}${new URL(url).origin}`,
    lane: `push.${runId}.${pushId}`,
    dueAt,
    body: { seq, push: pushId },
  };
}

/** A word that a row holds in addition to its event. */
export function wordOf(body: Json, name: string): string | undefined {
  const word = isJsonObject(body) ? body[name] : undefined;
  return typeof word === 'string' ? word : undefined;
}

/** The sequence of the event that a row is about. */
export function seqOf(body: Json): number {
  const seq = isJsonObject(body) ? body['seq'] : undefined;
  if (typeof seq !== 'number') throw new Error('An outbox row names no event.');
  return seq;
}
