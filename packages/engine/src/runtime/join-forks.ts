import { isDeepStrictEqual } from 'node:util';
import { HostError, type JsonObject } from '@weft/protocol';
import { withValue } from '../core/import/missing-values.ts';
import type { ForkLink } from '../core/run-state.ts';
import type { Store, StoredEvent } from '../store.ts';
import { createBoundedCache } from './bounded-cache.ts';

/**
 * A store in which a fork's log is whole: what comes before the fork is read from its source, and from the source's source. Runs
 * that are no forks are read as before, without asking.
 */
export function joinForks(store: Store): Store {
  const links = createBoundedCache<string, ForkLink | 'none'>(KEPT_LINKS);

  /** Whoever follows a run has read it before, so its link is known by then and is not asked for again. */
  const readRun: Store['readRun'] = async (runId, tenant) => {
    const row = await store.readRun(runId, tenant);
    if (row !== undefined) links.set(runId, row.record.fork ?? 'none');
    return row;
  };

  async function linkOf(runId: string): Promise<ForkLink | undefined> {
    const known = links.get(runId);
    if (known === undefined) return (await readRun(runId, undefined))?.record.fork;
    return known === 'none' ? undefined : known;
  }

  /** What comes before the first event is made from definition and inputs: with others, the same events lead elsewhere. */
  async function foldsAlike(runId: string, { mode, sourceRunId }: ForkLink): Promise<boolean> {
    if (mode === 'replay') return true;
    const [own, source] = [
      await store.readRun(runId, undefined),
      await store.readRun(sourceRunId, undefined),
    ];
    return (
      own?.record.definitionDigest === source?.record.definitionDigest &&
      isDeepStrictEqual(own?.record.inputs, source?.record.inputs)
    );
  }

  const readEvents: Store['readEvents'] = async (runId, fromSeq, limit, maxBytes) => {
    const page = await store.readEvents(runId, fromSeq, limit, maxBytes);
    if (page[0]?.seq === fromSeq) return page;
    const fork = await linkOf(runId);
    if (fork === undefined || fromSeq >= fork.fromSeq) return page;
    const before = Math.min(limit, fork.fromSeq - fromSeq);
    const source = await readEvents(fork.sourceRunId, fromSeq, before, maxBytes);
    if (source.length === 0) await checkSource(runId, fork);
    const { filled } = fork;
    const prefix =
      filled === undefined ? source : source.map((event) => withFilled(event, filled[event.seq]));
    const isWhole = prefix.length === fork.fromSeq - fromSeq;
    return isWhole ? [...prefix, ...page].slice(0, limit) : prefix;
  };

  /** Without its beginning a log is none: what is left of it must not be taken for a run that has yet to begin. */
  async function checkSource(runId: string, { sourceRunId, fromSeq }: ForkLink): Promise<void> {
    if ((await store.readRun(sourceRunId, undefined)) !== undefined) return;
    throw new HostError(
      'run_expired',
      `This run began as another one that was removed, and its first ${fromSeq} events with it. Remove it too.`,
      { runId, sourceRunId, fromSeq },
    );
  }

  /** A fork without a checkpoint of its own can start from its source's, if that lies before the fork. */
  const readCheckpoint: Store['readCheckpoint'] = async (runId) => {
    const own = await store.readCheckpoint(runId);
    if (own !== undefined) return own;
    const fork = await linkOf(runId);
    const inherited =
      fork !== undefined && (await foldsAlike(runId, fork))
        ? await readCheckpoint(fork.sourceRunId)
        : undefined;
    return inherited !== undefined && fork !== undefined && inherited.seq <= fork.fromSeq
      ? inherited
      : undefined;
  };

  return { ...store, readRun, readEvents, readCheckpoint };
}

const KEPT_LINKS = 10_000;

/** What a person has given in place of masked values is seen by the fold alone. */
function withFilled(event: StoredEvent, values: JsonObject | undefined): StoredEvent {
  if (values === undefined) return event;
  let payload = JSON.parse(event.overlay ?? event.payload) as JsonObject;
  for (const [slot, value] of Object.entries(values)) payload = withValue(payload, slot, value);
  return { ...event, overlay: JSON.stringify(payload) };
}
