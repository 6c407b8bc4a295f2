import { evolve, fromStored } from '../core/evolve.ts';
import { isTerminalEvent } from '../core/run-event.ts';
import { isTerminalStatus } from '../core/run-state.ts';
import { renderSnapshot } from '../core/snapshot.ts';
import type { Cursor, FollowedEvent, FollowOptions } from '../host.ts';
import type { RunRow, Store } from '../store.ts';
import { etagOf } from './etag.ts';
import type { Attachment, Feed } from './feed.ts';
import type { Folded, RunStates } from './states.ts';
import { type StoredWireEvent, toWireEvent } from './wire-event.ts';

/**
 * A live cursor: a position in a run's log that moves from history to the ring and back without a seam.
 *
 * Each turn: remember the feed's version; deliver from the ring when it reaches back to the position, else from the store;
 * when neither has anything, wait for the version to change.
 *
 * K1. Every event after the start is delivered once, in order: the position moves only past what was delivered.
 * K2. Delivering the terminal event ends the cursor; so does finding that the run ended at or before the position.
 */
export interface FollowDependencies {
  readonly store: Pick<Store, 'readEvents' | 'readRun'>;
  readonly feed: Feed;
  readonly states: RunStates;
  /** True while this process holds the run: then it is not over, or its last event is about to be published. */
  readonly isHeld: (runId: string) => boolean;
}

const PAGE_EVENTS = 200;
const PAGE_BYTES = 256 * 1024;

export function openCursor(dependencies: FollowDependencies, row: RunRow, options: FollowOptions): Cursor {
  const { store, feed } = dependencies;
  const { record } = row;
  const attachment = feed.attach(record.runId);
  let position = options.afterSeq + 1;
  let ended = false;
  let folded: Promise<Folded> | undefined;

  function close(): void {
    ended = true;
    attachment.detach();
    options.signal.removeEventListener('abort', close);
  }
  if (options.signal.aborted) close();
  else options.signal.addEventListener('abort', close, { once: true });

  async function next(): Promise<readonly FollowedEvent[] | undefined> {
    while (!ended) {
      const version = attachment.version();
      const events = await take(attachment);
      if (ended) break;
      if (events.length > 0) return deliver(events);
      if (!dependencies.isHeld(record.runId) && (await isOver())) break;
      const changed = await attachment.changed(version, options.keepaliveMs, options.signal);
      if (!changed && !options.signal.aborted) return [];
    }
    close();
    return undefined;
  }

  async function take(from: Attachment): Promise<readonly StoredWireEvent[]> {
    const recent = from.since(position);
    if (recent !== undefined) return recent;
    const page = await store.readEvents(record.runId, position, PAGE_EVENTS, PAGE_BYTES);
    return page.map((event) => toWireEvent(record, event));
  }

  async function isOver(): Promise<boolean> {
    const now = await store.readRun(record.runId, record.tenant);
    if (now === undefined) return true;
    // Nothing is added to an imported log, whether it has an end or not.
    const isFixed = isTerminalStatus(now.head.status) || now.record.imported !== undefined;
    return isFixed && now.nextSeq <= position;
  }

  async function deliver(events: readonly StoredWireEvent[]): Promise<readonly FollowedEvent[]> {
    const followed = options.snapshots ? await withSnapshots(events) : events.map((event) => ({ event }));
    const last = events.at(-1);
    if (last !== undefined) {
      position = last.seq + 1;
      if (isTerminalEvent(last.type)) close();
    }
    return followed;
  }

  function base(): Promise<Folded> {
    folded ??= dependencies.states.upTo(record, options.afterSeq + 1);
    return folded;
  }

  async function withSnapshots(events: readonly StoredWireEvent[]): Promise<readonly FollowedEvent[]> {
    // A client may name a position that the log had not reached: then the fold starts where delivery starts.
    const first = events[0];
    if (first !== undefined && (await base()).state.nextSeq < first.seq) {
      folded = dependencies.states.upTo(record, first.seq);
    }
    const { plan, state } = await base();
    return events.map((event) => {
      evolve(state, fromStored(event.stored));
      return { event, snapshot: renderSnapshot(plan, record, state, { status: state.status }) };
    });
  }

  return {
    next,
    close,
    async baseline() {
      const { plan, state } = await base();
      return {
        snapshot: renderSnapshot(plan, record, state, { status: state.status }),
        seq: state.nextSeq - 1,
        etag: etagOf(record.runId, state.nextSeq, []),
      };
    },
  };
}
