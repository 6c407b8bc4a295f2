import { triggersSnapshot } from '@weft/protocol';
import { evolve } from '../../core/fold/evolve.ts';
import { fromStored } from '../../core/fold/from-stored.ts';
import { stateBytes } from '../../core/json/heap-bytes.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { SnapshotExtras } from '../../core/fold/snapshot.ts';
import type { FollowedEvent } from '../../host/host.ts';
import type { RunLog } from '../../ports/store.ts';
import { nextTurn } from '../fairness/run-cooperatively.ts';
import { jsonText } from '../fairness/run-cooperatively.ts';
import { snapshotOf } from '../runs/snapshot-of.ts';
import type { Folded, RunStates } from '../runs/states.ts';
import { type StoredWireEvent, toWireEvent } from './wire-event.ts';

/**
 * What a reader of `values` is shown: the run as of each event, and of a large run as it is now.
 *
 * F-8. A small run is folded forward event by event. Its state is kept between two events, as long as all states kept for
 *      readers take no more than their share of the memory.
 * F-9. A larger run is shown as it is by now: readers share one fold of it, keep nothing, and skip intermediate states,
 *      never the last.
 * F-10. A batch has a bounded number of bytes, however large a snapshot is: at least one event.
 */
export interface Values {
  show(events: readonly StoredWireEvent[]): Promise<Shown>;
  /** The run as of where the reader continues, and the sequence of its last event. */
  baseline(): Promise<{ readonly text: string; readonly seq: number }>;
  close(): void;
}

export interface Shown {
  readonly followed: readonly FollowedEvent[];
  /** Where the reader continues. */
  readonly nextSeq: number;
}

export interface ValuesDependencies {
  readonly store: RunLog;
  readonly states: RunStates;
  readonly kept: KeptForReaders;
}

/** Memory that the states of all readers together take. */
export interface KeptForReaders {
  bytes: number;
  readonly maxBytes: number;
}

const BATCH_BYTES = 256 * 1024;
/** A larger run is folded once for all of its readers. */
const OWN_STATE_BYTES = 256 * 1024;

export function createValues(
  { store, states, kept }: ValuesDependencies,
  record: CreationRecord,
  afterSeq: number,
): Values {
  const { tenant, runId } = record;
  let own: Folded | undefined;
  let ownBytes = 0;
  let isShared = false;
  let isClosed = false;

  function keep(bytes: number): void {
    kept.bytes += bytes - ownBytes;
    ownBytes = bytes;
  }

  function letGo(): void {
    own = undefined;
    keep(0);
  }

  /** Measured after every change: a run that has grown is shared from now on. */
  function measure({ state }: Folded): void {
    keep(stateBytes(state));
    if (!isClosed && ownBytes <= OWN_STATE_BYTES && kept.bytes <= kept.maxBytes) return;
    isShared = true;
    letGo();
  }

  async function foldedTo(seq: number): Promise<Folded> {
    // A client may name a position that the log had not reached: then the fold starts where delivery starts.
    if (own === undefined || own.state.nextSeq < seq) own = await states.upTo(record, seq);
    return own;
  }

  async function textAt({ plan, state }: Folded): Promise<string> {
    const extras: SnapshotExtras = { status: state.status };
    const snapshot = await snapshotOf(plan, record, state, extras);
    return await jsonText(tenant, { ...snapshot, atSeq: state.nextSeq - 1 });
  }

  async function eventByEvent(events: readonly StoredWireEvent[], from: number): Promise<Shown> {
    const folded = await foldedTo(from);
    const followed: FollowedEvent[] = [];
    let bytes = 0;
    for (const event of events) {
      evolve(folded.state, fromStored(event.stored, record.runId));
      const snapshot = triggersSnapshot(event.type) ? await textAt(folded) : undefined;
      followed.push(snapshot === undefined ? { event } : { event, snapshot });
      bytes += snapshot?.length ?? 0;
      if (bytes > BATCH_BYTES) break;
    }
    const { nextSeq } = folded.state;
    measure(folded);
    if (bytes > BATCH_BYTES) await nextTurn(tenant);
    return { followed, nextSeq };
  }

  async function asItIs(events: readonly StoredWireEvent[], from: number): Promise<Shown> {
    const row = await store.readRun(runId, tenant);
    if (row === undefined) return { followed: [], nextSeq: from + events.length };
    const { seq, snapshot } = await states.current(row, (plan, state) => ({
      seq: state.nextSeq - 1,
      snapshot: snapshotOf(plan, record, state, { status: state.status }),
    }));
    const known = events.find((event) => event.seq === seq);
    const [last] = known === undefined ? await store.readEvents(runId, seq, 1, 1) : [];
    const event = known ?? (last && toWireEvent(record, last));
    const text = await jsonText(tenant, { ...(await snapshot), atSeq: seq });
    return { followed: event === undefined ? [] : [{ event, snapshot: text }], nextSeq: seq + 1 };
  }

  return {
    async show(events) {
      const from = events[0]?.seq ?? 0;
      return isShared ? await asItIs(events, from) : await eventByEvent(events, from);
    },
    async baseline() {
      const folded = await foldedTo(afterSeq + 1);
      const baseline = { text: await textAt(folded), seq: folded.state.nextSeq - 1 };
      measure(folded);
      return baseline;
    },
    close() {
      isClosed = true;
      letGo();
    },
  };
}
