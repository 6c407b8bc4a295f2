import { DamagedRunError } from '../../model/damaged-run-error.ts';
import { decorateStore } from '../../ports/decorate-store.ts';
import type { Store } from '../../ports/store.ts';

/**
 * A store whose reads throw for a damaged run, so that nothing else can be taken for it, and report it to
 * the host, which quarantines the run.
 */
export function guardDamage(store: Store, onDamaged: (error: DamagedRunError) => void): Store {
  function report(error: unknown): never {
    if (error instanceof DamagedRunError) onDamaged(error);
    throw error;
  }

  return decorateStore(store, {
    async readRun(runId, tenant) {
      const row = await store.readRun(runId, tenant);
      return row?.isDamaged === true ? report(new DamagedRunError(runId, undefined)) : row;
    },
    readEvents: (...asked) => store.readEvents(...asked).catch(report),
  });
}
