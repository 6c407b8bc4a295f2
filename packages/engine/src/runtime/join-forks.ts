import type { ForkLink } from '../core/run-state.ts';
import type { Store } from '../store.ts';
import { createBoundedCache } from './bounded-cache.ts';

/**
 * A store in which a fork's log is whole: what comes before the fork is read from its source, and from the source's source. Runs
 * that are no forks are read as before, without asking.
 */
export function joinForks(store: Store): Store {
  const links = createBoundedCache<string, ForkLink | 'none'>(KEPT_LINKS);

  async function linkOf(runId: string): Promise<ForkLink | undefined> {
    let known = links.get(runId);
    if (known === undefined) {
      const row = await store.readRun(runId, undefined);
      if (row === undefined) return undefined;
      known = row.record.fork ?? 'none';
      links.set(runId, known);
    }
    return known === 'none' ? undefined : known;
  }

  const readEvents: Store['readEvents'] = async (runId, fromSeq, limit, maxBytes) => {
    const page = await store.readEvents(runId, fromSeq, limit, maxBytes);
    if (page[0]?.seq === fromSeq) return page;
    const fork = await linkOf(runId);
    if (fork === undefined || fromSeq >= fork.fromSeq) return page;
    const before = Math.min(limit, fork.fromSeq - fromSeq);
    const prefix = await readEvents(fork.sourceRunId, fromSeq, before, maxBytes);
    const isWhole = prefix.length === fork.fromSeq - fromSeq;
    return isWhole ? [...prefix, ...page].slice(0, limit) : prefix;
  };

  /** A fork without a checkpoint of its own can start from its source's, if that lies before the fork. */
  const readCheckpoint: Store['readCheckpoint'] = async (runId) => {
    const own = await store.readCheckpoint(runId);
    if (own !== undefined) return own;
    const fork = await linkOf(runId);
    const inherited = fork && (await readCheckpoint(fork.sourceRunId));
    return inherited !== undefined && fork !== undefined && inherited.seq <= fork.fromSeq
      ? inherited
      : undefined;
  };

  // Adapters may be classes: only what is named here is replaced, everything else is called on the adapter itself.
  return new Proxy(store, {
    get(target, name) {
      if (name === 'readEvents') return readEvents;
      if (name === 'readCheckpoint') return readCheckpoint;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

const KEPT_LINKS = 10_000;
