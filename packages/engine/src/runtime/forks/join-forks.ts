import { isDeepStrictEqual } from 'node:util';
import { HostError, type JsonObject } from '@weft/protocol';
import { privatePayload, withPrivatePayload } from '../../core/fold/overlay.ts';
import { withValue } from '../../core/import/missing-values.ts';
import type { ForkLink } from '../../model/run-state.ts';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
import { decorateStore } from '../../ports/decorate-store.ts';
import type { Store, StoredEvent } from '../../ports/store.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';

/**
 * A store in which a fork's log is whole: what comes before the fork is read from its source, and from the source's source. Runs
 * that are no forks are read as before, without asking.
 */
export function joinForks(store: Store): Store {
  /** Runs that are known to be no forks. What a fork takes over is looked up every time: it may be erased meanwhile. */
  const whole = createBoundedCache<string, true>(KEPT_LINKS);

  /** A follower has read the run before; that it is no fork is remembered and not looked up again. */
  const readRun: Store['readRun'] = async (runId, tenant) => {
    const row = await store.readRun(runId, tenant);
    if (row !== undefined && row.record.fork === undefined) whole.set(runId, true);
    return row;
  };

  async function forkOf(runId: string): Promise<Fork | undefined> {
    if (whole.get(runId) === true) return undefined;
    const row = await readRun(runId, undefined);
    return row?.record.fork && { ...row.record.fork, isErased: row.erasedAt !== undefined };
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
    const fork = await forkOf(runId);
    if (fork === undefined || fromSeq >= fork.fromSeq) return beginningAt(runId, fromSeq, page);
    const before = Math.min(limit, fork.fromSeq - fromSeq);
    const source = await readEvents(fork.sourceRunId, fromSeq, before, maxBytes);
    if (source.length === 0) await checkSource(runId, fork);
    const prefix = source.map((event) => takenOver(event, fork));
    const isWhole = prefix.length === fork.fromSeq - fromSeq;
    return isWhole ? [...prefix, ...beginningAt(runId, fork.fromSeq, page)].slice(0, limit) : prefix;
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
    const fork = await forkOf(runId);
    const inherited =
      fork !== undefined && !fork.isErased && (await foldsAlike(runId, fork))
        ? await readCheckpoint(fork.sourceRunId)
        : undefined;
    return inherited !== undefined && fork !== undefined && inherited.seq <= fork.fromSeq
      ? inherited
      : undefined;
  };

  return decorateStore(store, { readRun, readEvents, readCheckpoint });
}

/** The beginning of what was asked for is missing, although there is more. */
function beginningAt(runId: string, seq: number, page: readonly StoredEvent[]): readonly StoredEvent[] {
  if (page[0] !== undefined && page[0].seq !== seq) throw new DamagedRunError(runId, seq);
  return page;
}

const KEPT_LINKS = 10_000;

interface Fork extends ForkLink {
  readonly isErased: boolean;
}

/** An erased fork shows nothing of what was behind its source's masks either, although the source still has it. */
function takenOver(event: StoredEvent, { filled, isErased }: Fork): StoredEvent {
  if (!isErased) return filled === undefined ? event : withFilled(event, filled[event.seq]);
  const { overlay: _overlay, ...shown } = event;
  return shown;
}

/** What a person has given in place of masked values is seen by the fold alone. */
function withFilled(event: StoredEvent, values: JsonObject | undefined): StoredEvent {
  if (values === undefined) return event;
  let payload = JSON.parse(privatePayload(event) ?? event.payload) as JsonObject;
  for (const [slot, value] of Object.entries(values)) payload = withValue(payload, slot, value);
  return withPrivatePayload(event, JSON.stringify(payload));
}
