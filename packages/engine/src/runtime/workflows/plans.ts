import { HostError } from '@weft/protocol';
import type { Plan } from '../../core/compile/plan.ts';
import type { WorkflowRegistry } from '../../ports/store.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';
import type { Compile } from './compile-definition.ts';

/**
 * Compiled definitions by digest. A digest names its content for ever, and so does a version of a node type, so nothing here can be out
 * of date. Versions of types are those of a tenant: a plan that uses any is kept for its tenant alone.
 */
export interface Plans {
  /** `tenant`: whose turn it takes if it must be made ready first. */
  get(digest: string, tenant: string): Promise<Plan>;
  /** Keeps a plan that was just compiled and will be run soon, so that it is not compiled again. */
  keep(plan: Plan, tenant: string): void;
}

const KEPT_PLANS = 256;
/** Bytes of memory, roughly, that all of them take. */
const KEPT_BYTES = 256 * 1024 * 1024;

/** Most plans are small, and then their number decides. */
function weightOf({ bytes }: Plan): number {
  return Math.max(bytes, KEPT_BYTES / KEPT_PLANS);
}

/** No digest holds a space. */
function ownKey(digest: string, tenant: string): string {
  return `${digest} ${tenant}`;
}

function keyOf({ digest, usesUserTypes }: Plan, tenant: string): string {
  return usesUserTypes ? ownKey(digest, tenant) : digest;
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
      const own = ownKey(digest, tenant);
      const known = kept.get(digest) ?? kept.get(own);
      if (known !== undefined) return known;
      const loading = load(digest, tenant);
      kept.set(own, loading);
      loading.then(
        (plan) => {
          if (!plan.usesUserTypes) kept.delete(own);
          kept.set(keyOf(plan, tenant), loading, weightOf(plan));
        },
        // A failed load is not kept: the next one may succeed.
        () => kept.delete(own),
      );
      return loading;
    },
    keep: (plan, tenant) => kept.set(keyOf(plan, tenant), Promise.resolve(plan), weightOf(plan)),
  };
}
