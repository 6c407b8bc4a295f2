import type { CreationRecord } from '../core/run-state.ts';
import type { StoredEvent } from '../store.ts';
import { type StoredWireEvent, toWireEvent } from './wire-event.ts';

/**
 * What has just become durable, for those who are listening. A run has a channel while at least one listener is attached;
 * the channel keeps the newest events in a ring, bounded by number and bytes.
 *
 * F1. A ring is an unbroken piece of the log. An event that does not follow the newest one clears it first.
 * F2. Every commit of an attached run is followed by a change of its version: by `publish` when this process wrote the
 *     events, by `signal` when another did. So a listener that read the version before it looked into the store,
 *     and found nothing there, loses nothing by waiting for the next version.
 * F3. A listener that has fallen out of the ring reads from the store; the feed keeps no queue for anybody.
 */
export interface Feed {
  publish(record: CreationRecord, events: readonly StoredEvent[]): void;
  /** Something happened to the run that is not in the ring. */
  signal(runId: string): void;
  attach(runId: string): Attachment;
  /** Listeners attached now. */
  listeners(): number;
}

export interface Attachment {
  version(): number;
  /** Events from `fromSeq` on: `[]` when there is none yet, undefined when only the store can tell. */
  since(fromSeq: number): readonly StoredWireEvent[] | undefined;
  /** Resolves with true once the version differs from the one given, with false when the time is up or the signal aborted. */
  changed(version: number, timeoutMs: number, signal: AbortSignal): Promise<boolean>;
  detach(): void;
}

export interface FeedOptions {
  readonly ringEvents: number;
  readonly ringBytes: number;
}

interface Channel {
  listeners: number;
  version: number;
  ring: StoredWireEvent[];
  bytes: number;
  readonly waiting: Set<() => void>;
}

export function createFeed(options: FeedOptions): Feed {
  const channels = new Map<string, Channel>();
  let listeners = 0;

  function publish(record: CreationRecord, events: readonly StoredEvent[]): void {
    const channel = channels.get(record.runId);
    const first = events[0];
    if (channel === undefined || first === undefined) return;
    const newest = channel.ring.at(-1);
    if (newest !== undefined && newest.seq + 1 !== first.seq) clearRing(channel);
    for (const event of events) {
      channel.ring.push(toWireEvent(record, event));
      channel.bytes += event.payload.length;
    }
    trim(channel);
    announce(channel);
  }

  function trim(channel: Channel): void {
    let drop = 0;
    while (
      channel.ring.length - drop > options.ringEvents ||
      (channel.bytes > options.ringBytes && drop < channel.ring.length)
    ) {
      channel.bytes -= channel.ring[drop]?.payload.length ?? 0;
      drop += 1;
    }
    if (drop > 0) channel.ring.splice(0, drop);
  }

  function signal(runId: string): void {
    const channel = channels.get(runId);
    if (channel === undefined) return;
    clearRing(channel);
    announce(channel);
  }

  function attach(runId: string): Attachment {
    const channel = channels.get(runId) ?? {
      listeners: 0,
      version: 0,
      ring: [],
      bytes: 0,
      waiting: new Set(),
    };
    channels.set(runId, channel);
    channel.listeners += 1;
    listeners += 1;
    let attached = true;
    return {
      version: () => channel.version,
      since: (fromSeq) => since(channel, fromSeq),
      changed: (version, timeoutMs, abort) => changed(channel, version, timeoutMs, abort),
      detach() {
        if (!attached) return;
        attached = false;
        channel.listeners -= 1;
        listeners -= 1;
        if (channel.listeners === 0) channels.delete(runId);
      },
    };
  }

  return { publish, signal, attach, listeners: () => listeners };
}

function clearRing(channel: Channel): void {
  channel.ring = [];
  channel.bytes = 0;
}

function announce(channel: Channel): void {
  channel.version += 1;
  const waiting = [...channel.waiting];
  channel.waiting.clear();
  for (const wake of waiting) wake();
}

function since(channel: Channel, fromSeq: number): readonly StoredWireEvent[] | undefined {
  const first = channel.ring[0];
  if (first === undefined || fromSeq < first.seq) return undefined;
  return channel.ring.slice(fromSeq - first.seq);
}

function changed(
  channel: Channel,
  version: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (channel.version !== version) return Promise.resolve(true);
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const settle = (result: boolean): void => {
      clearTimeout(timer);
      channel.waiting.delete(wake);
      signal.removeEventListener('abort', leave);
      resolve(result);
    };
    const wake = (): void => settle(true);
    const leave = (): void => settle(false);
    const timer = setTimeout(leave, timeoutMs);
    timer.unref();
    channel.waiting.add(wake);
    signal.addEventListener('abort', leave, { once: true });
  });
}
