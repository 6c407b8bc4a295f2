import { DamagedRunError } from '../../model/damaged-run-error.ts';
import { decorateStore } from '../../ports/decorate-store.ts';
import type { Store } from '../../ports/store.ts';

/**
 * A store in which damage to a run is an error for whoever reads it, never something else that could be taken for the run; and is
 * told to the host, which sets the run aside.
 */
export function guardDamage(store: Store, onDamaged: (error: DamagedRunError) => void): Store {
  function told(error: unknown): never {
    if (error instanceof DamagedRunError) onDamaged(error);
    throw error;
  }

  return decorateStore(store, {
    async readRun(runId, tenant) {
      const row = await store.readRun(runId, tenant);
      return row?.isDamaged === true ? told(new DamagedRunError(runId, undefined)) : row;
    },
    readEvents: (...asked) => store.readEvents(...asked).catch(told),
  });
}
