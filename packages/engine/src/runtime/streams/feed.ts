import { isTerminalEvent } from '../../model/run-event.ts';
import type { StopSignal } from '../../model/node-type.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { StoredEvent } from '../../ports/store.ts';
import { createEphemeralMap } from '../collections/ephemeral-map.ts';
import { createFairQueue } from '../fairness/fair-queue.ts';
import { type StoredWireEvent, toWireEvent } from './wire-event.ts';

/**
 * What has just become durable, for those who are listening. A run has a channel while at least one listener is attached;
 * the channel keeps the newest events in a ring, bounded by number and bytes.
 *
 * F-1. A ring is a gap-free piece of the log. An event that does not follow the newest one clears it first.
 * F-2. Every commit of an attached run is followed by a change of its version: by `publish` when this process wrote the
 *      events, by `signal` when another did. So a listener that read the version before it read the store, and found nothing
 *      there, loses nothing by waiting for the next version.
 * F-3. A listener that has fallen out of the ring reads from the store; the feed keeps no queue per listener.
 * F-4. Listeners are called in the turns after the one that made the events durable, a few in each turn: the run and other
 *      requests do not wait for a thousand of them, and tenants alternate. A listener that is still to be called is not
 *      called twice.
 * F-16. The first event after a pause and the last of a run are announced at once; what comes within 16 ms of an announcement is announced
 *       together, no later than 16 ms after it became durable.
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
  /**
   * Events from `fromSeq` on: `[]` when there is none yet, undefined when only the store can tell. Everyone at the same place
   * gets the same array, so that it can be rendered once for all.
   */
  since(fromSeq: number): readonly StoredWireEvent[] | undefined;
  /** Resolves with true once the version differs from the one given, with false when the time is up or the signal aborted. */
  changed(version: number, timeoutMs: number, signal: StopSignal): Promise<boolean>;
  /** Calls after every change of the version, until the returned function is called. `call` must not throw. */
  listen(call: () => void): () => void;
  detach(): void;
}

export interface FeedOptions {
  readonly ringEvents: number;
  readonly ringBytes: number;
  /** Of all rings together: where many runs are listened to, each has its part of this. */
  readonly allRingBytes: number;
}

interface Channel {
  /** Unknown until something is published here. */
  tenant: string;
  attached: number;
  version: number;
  ring: StoredWireEvent[];
  bytes: number;
  /** The newest events, as they were last asked for. */
  tail: readonly StoredWireEvent[] | undefined;
  announcedAt: number;
  /** Something is still to be announced. */
  isGathering: boolean;
  readonly listeners: Set<Listener>;
}

interface Listener {
  readonly call: () => void;
  isListening: boolean;
  /** It stands in the queue of those to be called. */
  isDue: boolean;
}

/** A call that writes to a socket takes about 15 µs. */
const CALLS_PER_TURN = 100;
/** A picture of a screen at 60 Hz: no one sees more of them, and each piece costs the host and its reader a packet. */
const GATHER_MS = 16;

export function createFeed(options: FeedOptions): Feed {
  const channels = createEphemeralMap<Channel>();
  const announce = createAnnouncer();
  let attachments = 0;

  function publish(record: CreationRecord, events: readonly StoredEvent[]): void {
    const channel = channels.get(record.runId);
    const first = events[0];
    if (channel === undefined || first === undefined) return;
    channel.tenant = record.tenant;
    const newest = channel.ring.at(-1);
    if (newest !== undefined && newest.seq + 1 !== first.seq) clearRing(channel);
    for (const event of events) {
      channel.ring.push(toWireEvent(record, event));
      channel.bytes += event.payload.length;
    }
    channel.tail = undefined;
    trim(channel);
    announce(channel, isTerminalEvent(events.at(-1)?.type ?? ''));
  }

  function trim(channel: Channel): void {
    const mostBytes = Math.min(options.ringBytes, options.allRingBytes / channels.size);
    let drop = 0;
    while (
      channel.ring.length - drop > options.ringEvents ||
      (channel.bytes > mostBytes && drop < channel.ring.length)
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
    announce(channel, false);
  }

  function attach(runId: string): Attachment {
    const channel = channels.get(runId) ?? {
      tenant: '',
      attached: 0,
      version: 0,
      ring: [],
      bytes: 0,
      tail: undefined,
      announcedAt: Number.NEGATIVE_INFINITY,
      isGathering: false,
      listeners: new Set(),
    };
    channels.set(runId, channel);
    channel.attached += 1;
    attachments += 1;
    let attached = true;
    return {
      version: () => channel.version,
      since: (fromSeq) => since(channel, fromSeq),
      changed: (version, timeoutMs, abort) => changed(channel, version, timeoutMs, abort),
      listen: (call) => listen(channel, call),
      detach() {
        if (!attached) return;
        attached = false;
        channel.attached -= 1;
        attachments -= 1;
        if (channel.attached > 0) return;
        channels.delete(runId);
        clearRing(channel);
      },
    };
  }

  return { publish, signal, attach, listeners: () => attachments };
}

function clearRing(channel: Channel): void {
  channel.ring = [];
  channel.bytes = 0;
  channel.tail = undefined;
}

function createAnnouncer(): (channel: Channel, isLast: boolean) => void {
  const due = createFairQueue<Listener>();
  let isCalling = false;
  let gathering: Channel[] = [];

  function callSome(): void {
    for (let calls = 0; calls < CALLS_PER_TURN; calls += 1) {
      const next = due.take();
      if (next === undefined) break;
      next.leave();
      const listener = next.item;
      listener.isDue = false;
      if (listener.isListening) listener.call();
    }
    isCalling = due.waiting() > 0;
    if (isCalling) setImmediate(callSome);
  }

  function announce(channel: Channel, now: number): void {
    channel.announcedAt = now;
    channel.isGathering = false;
    for (const listener of channel.listeners) {
      if (listener.isDue) continue;
      listener.isDue = true;
      due.push(listener, channel.tenant);
      if (isCalling) continue;
      isCalling = true;
      setImmediate(callSome);
    }
  }

  function announceGathered(): void {
    const gathered = gathering;
    gathering = [];
    const now = performance.now();
    for (const channel of gathered) if (channel.isGathering) announce(channel, now);
  }

  return (channel, isLast) => {
    channel.version += 1;
    const now = performance.now();
    if (isLast || now - channel.announcedAt >= GATHER_MS) return announce(channel, now);
    if (channel.isGathering) return;
    channel.isGathering = true;
    if (gathering.push(channel) === 1) setTimeout(announceGathered, GATHER_MS).unref();
  };
}

function since(channel: Channel, fromSeq: number): readonly StoredWireEvent[] | undefined {
  const first = channel.ring[0];
  if (first === undefined || fromSeq < first.seq) return undefined;
  if (channel.tail?.[0]?.seq === fromSeq) return channel.tail;
  channel.tail = channel.ring.slice(fromSeq - first.seq);
  return channel.tail;
}

function listen(channel: Channel, call: () => void): () => void {
  const listener: Listener = { call, isListening: true, isDue: false };
  channel.listeners.add(listener);
  return () => {
    listener.isListening = false;
    channel.listeners.delete(listener);
  };
}

function changed(channel: Channel, version: number, timeoutMs: number, signal: StopSignal): Promise<boolean> {
  if (channel.version !== version) return Promise.resolve(true);
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const settle = (result: boolean): void => {
      clearTimeout(timer);
      stop();
      signal.removeEventListener('abort', leave);
      resolve(result);
    };
    const leave = (): void => settle(false);
    const stop = listen(channel, () => settle(true));
    const timer = setTimeout(leave, timeoutMs);
    timer.unref();
    signal.addEventListener('abort', leave);
  });
}
