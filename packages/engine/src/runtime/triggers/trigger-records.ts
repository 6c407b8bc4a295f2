import type { TriggerState, TriggerView } from '../../host/host.ts';
import type { Documents, DocumentPlace, DocumentWrite, StoredDocument } from '../../ports/store.ts';
import { HOST_TENANT } from '../outbox/subscriptions.ts';
import type { StoredSecret } from '../outbox/sealing.ts';

/** A trigger as it is kept. Its secret is sealed where the host has a key, or is one of the tenant's own and only named here. */
export interface Trigger extends Omit<TriggerView, 'state'> {
  readonly isPaused: boolean;
  readonly secret?: StoredSecret;
}

export interface ReadTrigger {
  readonly tenant: string;
  readonly trigger: Trigger;
  readonly version: string;
}

export const TRIGGERS = 'trigger';
/** Says whose a trigger is: an address on the web names no tenant. */
const OWNERS = 'trigger-owner';

export function triggerPlace(tenant: string, id: string): DocumentPlace {
  return { tenant, collection: TRIGGERS, scope: '', id };
}

export function ownerPlace(id: string): DocumentPlace {
  return { tenant: HOST_TENANT, collection: OWNERS, scope: '', id };
}

/** What a new trigger is written as: the record, and whose it is. */
export function newTriggerWrites(tenant: string, trigger: Trigger): readonly [DocumentWrite, DocumentWrite] {
  const { id, createdAt: at } = trigger;
  return [
    { ...triggerPlace(tenant, id), body: JSON.stringify(trigger), at },
    { ...ownerPlace(id), body: JSON.stringify(tenant), at },
  ];
}

export function removalWrites(
  tenant: string,
  id: string,
  at: number,
): readonly [DocumentWrite, DocumentWrite] {
  return [
    { ...triggerPlace(tenant, id), at },
    { ...ownerPlace(id), at },
  ];
}

/** Of whatever tenant. Two reads, whether there is such a trigger or not. */
export async function findTrigger(
  store: Pick<Documents, 'readDocument'>,
  id: string,
): Promise<ReadTrigger | undefined> {
  const owner = await store.readDocument(ownerPlace(id));
  const tenant = owner === undefined ? HOST_TENANT : (JSON.parse(owner.body) as string);
  const stored = await store.readDocument(triggerPlace(tenant, id));
  return owner && stored && readTrigger(tenant, stored);
}

export function readTrigger(tenant: string, { body, version }: StoredDocument): ReadTrigger {
  return { tenant, trigger: JSON.parse(body) as Trigger, version };
}

export function triggerView(trigger: Trigger, isFull: boolean): TriggerView {
  const { secret: _secret, isPaused, ...shown } = trigger;
  const state: TriggerState = isPaused ? 'paused' : isFull ? 'dead-lettered' : 'active';
  return { ...shown, state, changes: [...shown.changes].reverse() };
}
