import { isTerminalEvent } from '../../model/run-event.ts';
import { isTerminalStatus } from '../../model/run-state.ts';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
import type { Cursor, FollowedEvent, FollowOptions } from '../../host/host.ts';
import type { RunRow } from '../../ports/store.ts';
import type { Attachment, Feed } from './feed.ts';
import { createValues, type ValuesDependencies } from './values.ts';
import { type StoredWireEvent, toWireEvent } from './wire-event.ts';

/**
 * A live cursor: a position in a run's log that moves from history to the ring and back without a seam.
 *
 * It looks (into the ring when that reaches back to the position, else into the store) until there is nothing new. Then it
 * listens: what becomes durable is handed on from the ring as it comes, with no promise and no timer per event. When the
 * ring has lost the position, it looks again.
 *
 * F-5. Every event after the start is delivered once, in order: the position moves only past what was delivered.
 * F-6. Delivering the terminal event ends the cursor; so does finding that the run ended at or before the position.
 * F-7. A cursor without events for `keepaliveMs` reads again, so that a signal lost between processes delays an event and no
 *      more.
 */
export interface FollowDependencies extends ValuesDependencies {
  readonly feed: Feed;
  /** True while this process holds the run: then it is not over, or its last event is about to be published. */
  readonly isHeld: (runId: string) => boolean;
}

type Take = Parameters<Cursor['push']>[0];

const PAGE_EVENTS = 200;
const PAGE_BYTES = 256 * 1024;

/** Undefined when the tenant has no such run. */
export async function openCursor(
  dependencies: FollowDependencies,
  run: { readonly runId: string; readonly tenant: string },
  options: FollowOptions,
): Promise<Cursor | undefined> {
  // Attached before the row is read: what is committed later than the row says is heard of.
  const attachment = dependencies.feed.attach(run.runId);
  const version = attachment.version();
  let row: RunRow | undefined;
  try {
    row = await dependencies.store.readRun(run.runId, run.tenant);
  } finally {
    if (row === undefined) attachment.detach();
  }
  return row && cursorOf(dependencies, options, { attachment, version, row });
}

/** A run and the version of the feed that its row is at least as new as. */
interface Attached {
  readonly attachment: Attachment;
  readonly version: number;
  readonly row: RunRow;
}

function cursorOf(dependencies: FollowDependencies, options: FollowOptions, attached: Attached): Cursor {
  const { store } = dependencies;
  const { attachment, row } = attached;
  const { record } = row;
  let position = options.afterSeq + 1;
  let ended = false;
  let stopListening = (): void => undefined;
  const values = options.snapshots ? createValues(dependencies, record, options.afterSeq) : undefined;
  /** At this version of the feed there was nothing after the position, and the run was not over. */
  let nothingNewAt = row.nextSeq <= position && !isFixed(row) ? attached.version : undefined;

  function close(): void {
    ended = true;
    stopListening();
    attachment.detach();
    values?.close();
    options.signal.removeEventListener('abort', close);
  }
  if (options.signal.aborted) close();
  else options.signal.addEventListener('abort', close);

  async function push(take: Take): Promise<boolean> {
    while (!ended) {
      const events = await look();
      if (events === undefined) break;
      if (events.length > 0) {
        if (!take(events)) return !ended;
      } else {
        const why = await listen(take);
        if (why === 'quiet' || why === 'full') return !ended;
      }
    }
    close();
    return false;
  }

  async function next(): Promise<readonly FollowedEvent[] | undefined> {
    let taken: readonly FollowedEvent[] | undefined;
    const isOpen = await push((events) => {
      taken = events;
      return false;
    });
    return taken ?? (isOpen ? [] : undefined);
  }

  /** What there is after the position, `[]` when nothing yet, undefined when nothing will come. */
  async function look(): Promise<readonly FollowedEvent[] | undefined> {
    const version = attachment.version();
    if (version === nothingNewAt) return [];
    const events = attachment.since(position) ?? (await readPage());
    if (ended) return undefined;
    if (events.length > 0) return deliver(events);
    if (!dependencies.isHeld(record.runId) && (await isOver())) return undefined;
    nothingNewAt = version;
    return [];
  }

  async function readPage(): Promise<readonly StoredWireEvent[]> {
    const page = await store.readEvents(record.runId, position, PAGE_EVENTS, PAGE_BYTES);
    return page.map((event) => toWireEvent(record, event));
  }

  async function isOver(): Promise<boolean> {
    const now = await store.readRun(record.runId, record.tenant);
    if (now === undefined) return true;
    if (!isFixed(now)) return false;
    if (now.nextSeq <= position) return true;
    // It ended between two looks; otherwise what its row counts is not there.
    if ((await readPage()).length === 0) throw new DamagedRunError(record.runId, position);
    return false;
  }

  /** Hands on what comes, until someone has to look, the taker is full, or nothing has come for a while. */
  function listen(take: Take): Promise<'look' | 'full' | 'quiet'> {
    if (ended || attachment.version() !== nothingNewAt) return Promise.resolve('look');
    return new Promise((resolve, reject) => {
      let heard = false;
      const stop = (why: 'look' | 'full' | 'quiet'): void => {
        clearInterval(timer);
        deafen();
        stopListening = () => undefined;
        resolve(why);
      };
      const timer = setInterval(() => {
        if (!heard) {
          nothingNewAt = undefined;
          stop('quiet');
        }
        heard = false;
      }, options.keepaliveMs);
      timer.unref();
      const deafen = attachment.listen(() => {
        heard = true;
        const events = values === undefined ? attachment.since(position) : undefined;
        if (events === undefined || events.length === 0) return stop('look');
        try {
          const hasRoom = take(events);
          moveTo(events);
          if (!hasRoom) stop('full');
        } catch (error) {
          reject(error);
          stop('full');
        }
      });
      stopListening = () => stop('look');
    });
  }

  async function deliver(events: readonly StoredWireEvent[]): Promise<readonly FollowedEvent[]> {
    if (values === undefined) {
      moveTo(events);
      return events;
    }
    const { followed, nextSeq } = await values.show(events);
    position = nextSeq;
    if (isTerminalEvent(followed.at(-1)?.event.type ?? '')) close();
    return followed;
  }

  function moveTo(delivered: readonly StoredWireEvent[]): void {
    const last = delivered.at(-1);
    if (last === undefined) return;
    position = last.seq + 1;
    if (isTerminalEvent(last.type)) close();
  }

  return {
    push,
    next,
    close,
    baseline: async () => values?.baseline(),
  };
}

/** Nothing is added to its log: it has ended, or it was imported, whether it has an end or not. */
function isFixed({ head, record }: RunRow): boolean {
  return isTerminalStatus(head.status) || record.imported !== undefined;
}
