import { isTerminalStatus } from '../../model/run-state.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { Documents, DocumentPlace, DocumentWrite, RunRow } from '../../ports/store.ts';
import type { StoredSecret } from '../outbox/sealing.ts';

/** A push notification configuration of a task, as it lies in the store: in the scope of its run, with which it is purged. */
export interface StoredPush {
  readonly pushId: string;
  readonly url: string;
  readonly version: string;
  readonly scheme?: string;
  /** JSON of PushSecrets; absent where there are none. */
  readonly secrets?: StoredSecret;
  /** The first event that gets a message of its own; the first message covers what came before. Absent until that is sent. */
  readonly since?: number;
}

export interface PushSecrets {
  readonly token?: string;
  readonly authorization?: string;
}

/** The tag of runs that a message has begun. */
export const TASK_TAG = 'a2a';

const PUSHES = 'task-push';
/** One empty document for each configuration of a task that has not ended, to count them by. */
const OPEN_PUSHES = 'task-push-open';

export function isTask({ tags }: CreationRecord): boolean {
  return tags.includes(TASK_TAG);
}

export function pushPlace(tenant: string, runId: string, pushId: string): DocumentPlace {
  return { tenant, collection: PUSHES, scope: runId, id: pushId };
}

export async function listPushes(
  store: Documents,
  tenant: string,
  runId: string,
  limit: number,
): Promise<StoredPush[]> {
  const { rows } = await store.listDocuments(tenant, PUSHES, runId, { limit });
  return rows.map(({ body }) => JSON.parse(body) as StoredPush);
}

export async function countOpenPushes(store: Documents, tenant: string, limit: number): Promise<number> {
  return (await store.listDocuments(tenant, OPEN_PUSHES, '', { limit })).rows.length;
}

/** Counts a configuration while its task is open, or no more. */
export function openPush(
  { record, head }: RunRow,
  pushId: string,
  at: number,
  isRemoved = isTerminalStatus(head.status),
): DocumentWrite {
  const { tenant, runId } = record;
  return {
    tenant,
    collection: OPEN_PUSHES,
    scope: '',
    id: `${runId}.${pushId}`,
    at,
    ...(!isRemoved && { body: 'true' }),
  };
}

/** Whose secret it is: a sealed one opens nowhere else. */
export function pushOwner(tenant: string, runId: string, pushId: string) {
  return { tenant, id: `${runId}.${pushId}` };
}
