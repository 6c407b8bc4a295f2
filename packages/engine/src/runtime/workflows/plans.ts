import { HostError } from '@weft/protocol';
import type { Plan } from '../../core/compile/plan.ts';
import type { WorkflowRegistry } from '../../ports/store.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';
import type { Compile } from './compile-definition.ts';

/** Compiled definitions by digest. A digest names its content for ever, so nothing here can be out of date. */
export interface Plans {
  /** `tenant`: whose turn it takes if it must be made ready first. */
  get(digest: string, tenant: string): Promise<Plan>;
  /** Whoever has just compiled a definition that will be run soon spares others doing it again. */
  keep(plan: Plan): void;
}

const KEPT_PLANS = 256;
/** Bytes of memory, roughly, that all of them take. */
const KEPT_BYTES = 256 * 1024 * 1024;

/** Most plans are small, and then their number decides. */
function weightOf({ bytes }: Plan): number {
  return Math.max(bytes, KEPT_BYTES / KEPT_PLANS);
}

export function createPlans(store: WorkflowRegistry, compile: Compile): Plans {
  const kept = createBoundedCache<string, Promise<Plan>>(KEPT_BYTES);

  async function load(digest: string, tenant: string): Promise<Plan> {
    const text = await store.readDefinition(digest);
    if (text === undefined)
      throw new HostError('internal_error', 'A definition that a run needs is not in the store.');
    const { plan, errors } = await compile(JSON.parse(text), digest, tenant, 'registered');
    if (plan === undefined) {
      throw new HostError(
        'internal_error',
        'A registered definition cannot be run by this version of the host.',
        {
          problems: errors.slice(0, 5).map((problem) => `${problem.path}: ${problem.message}`),
        },
      );
    }
    return plan;
  }

  return {
    get(digest, tenant) {
      const known = kept.get(digest);
      if (known !== undefined) return known;
      const loading = load(digest, tenant);
      kept.set(digest, loading);
      // A failed load is not kept: the next one may succeed.
      loading.then(
        (plan) => kept.set(digest, loading, weightOf(plan)),
        () => kept.delete(digest),
      );
      return loading;
    },
    keep: (plan) => kept.set(plan.digest, Promise.resolve(plan), weightOf(plan)),
  };
}
