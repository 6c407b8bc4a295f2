import type { CreationRecord } from '../../model/run-state.ts';
import type { DocumentPlace } from '../../ports/store.ts';

/** Everything that is due at a time is one collection, so that one look finds all of it: schedules without a scope, the rest by theirs. */
export const DUE = 'due';
export const SCHEDULE_SCOPE = '';
export const DELIVERY_SCOPE = 'delivery';

export function schedulePlace(tenant: string, name: string): DocumentPlace {
  return { tenant, collection: DUE, scope: SCHEDULE_SCOPE, id: name };
}

/** The schedule that waits for a run to end; a fork was not started by it. */
export function scheduleOf({ tenant, source, fork }: CreationRecord): DocumentPlace | undefined {
  return source?.kind === 'schedule' && fork === undefined ? schedulePlace(tenant, source.id) : undefined;
}
