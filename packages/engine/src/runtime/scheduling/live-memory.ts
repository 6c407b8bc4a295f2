import { heapBytesOf, runBytes } from '../../core/json/heap-bytes.ts';
import type { LiveRun } from '../../core/decide/live-run.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { ClaimBounds, DueRun, StoredEvent } from '../../ports/store.ts';
import { TENANT_SHARE, type HostLimits } from '../../host/limits.ts';
import { createEphemeralMap } from '../collections/ephemeral-map.ts';
import { createLoads, isOverShare, type Loads } from '../fairness/loads.ts';

/**
 * Which runs may be in memory, evaluated by the bytes they take there and by their number.
 *
 * W-9. A run is admitted while all runs stay below the marks, and those of its tenant below its share; one run in any case.
 * W-10. A claimed run counts before it is read, by the size that the store reports; afterwards by what it takes.
 * W-11. Runs grow. Above the mark, runs of tenants at or over their share are released, the largest first, as soon as their
 *       running effects are recorded; they wait like any other run until there is room.
 * W-12. A run with a waiting command is admitted also above the marks, a few at a time: commands are how people get rid of
 *       runs.
 */
export interface LiveMemory {
  /** Of a run that is about to be created. */
  hasRoomFor(record: CreationRecord): boolean;
  /** Whether a run to which a command was sent may be taken in now. */
  admitCommanded(runId: string): boolean;
  /** What may be claimed now; undefined when nothing may. */
  claimBounds(): (ClaimBounds & { readonly limit: number }) | undefined;
  /** Claimed and not read yet. */
  reserve(claimed: DueRun): void;
  hold(run: LiveRun): void;
  grew(runId: string, events: readonly StoredEvent[]): void;
  release(runId: string): void;
  /** Runs to give back, so that the others have room. */
  toGiveBack(): readonly { readonly runId: string; readonly tenant: string }[];
  /** Runs of those tenants that get no more room, the newest first. */
  crowded(): readonly string[];
  readonly loads: Pick<Loads, 'all' | 'of'>;
}

interface Entry {
  readonly runId: string;
  readonly tenant: string;
  /** Absent while it is not read. */
  readonly run: LiveRun | undefined;
  bytes: number;
  /** Of which were estimated from the text of events. */
  grown: number;
  isLeaving: boolean;
}

const CLAIMED_AT_ONCE = 64;
/** What text may take once it is read, at worst; counted so until it is. */
const HEAP_OF_UNREAD = 16;
/** What the text of an event usually adds to its run. */
const HEAP_OF_EVENT = 4;
/** What a run may have grown by estimate before it is looked at again. */
const LEAST_GROWTH = 256 * 1024;
/** Runs above the marks that commands may have brought in. */
const MOST_COMMANDED = 8;

export function createLiveMemory(limits: Pick<HostLimits, 'maxLiveRuns' | 'maxLiveBytes'>): LiveMemory {
  const entries = createEphemeralMap<Entry>();
  const loads = createLoads();
  /** Those that came in above the marks because of a command. */
  const commanded = new Set<string>();
  /** Of the runs that are to be given back. */
  let leavingBytes = 0;
  const ofTenant = {
    units: Math.max(Math.floor(limits.maxLiveRuns * TENANT_SHARE), 1),
    bytes: limits.maxLiveBytes * TENANT_SHARE,
  };

  function isFull(): boolean {
    const { units, bytes } = loads.all();
    return units >= limits.maxLiveRuns || (units > 0 && bytes >= limits.maxLiveBytes);
  }

  /** Tenants that have their share. */
  function fullTenants(): string[] {
    return loads
      .tenants()
      .flatMap(([tenant, own]) =>
        own.units >= ofTenant.units || own.bytes >= ofTenant.bytes ? [tenant] : [],
      );
  }

  function set(entry: Entry): void {
    drop(entry.runId);
    entries.set(entry.runId, entry);
    loads.add(entry.tenant, 1, entry.bytes);
  }

  function release(runId: string): void {
    commanded.delete(runId);
    drop(runId);
  }

  function drop(runId: string): void {
    const entry = entries.get(runId);
    if (entry === undefined) return;
    entries.delete(runId);
    loads.add(entry.tenant, -1, -entry.bytes);
    if (entry.isLeaving) leavingBytes -= entry.bytes;
  }

  function resize(entry: Entry, bytes: number): void {
    loads.add(entry.tenant, 0, bytes - entry.bytes);
    if (entry.isLeaving) leavingBytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }

  return {
    loads,
    release,
    hasRoomFor({ tenant, inputs }) {
      const all = loads.all();
      if (all.units === 0) return true;
      if (isFull()) return false;
      const own = loads.of(tenant);
      const bytes = heapBytesOf(inputs);
      return (
        all.bytes + bytes <= limits.maxLiveBytes &&
        own.units < ofTenant.units &&
        (own.units === 0 || own.bytes + bytes <= ofTenant.bytes)
      );
    },
    admitCommanded(runId) {
      if (!isFull()) return true;
      return commanded.size < MOST_COMMANDED && commanded.add(runId) === commanded;
    },
    claimBounds() {
      if (isFull()) return undefined;
      const { units, bytes } = loads.all();
      return {
        limit: Math.min(limits.maxLiveRuns - units, CLAIMED_AT_ONCE),
        maxBytes: Math.floor((limits.maxLiveBytes - bytes) / HEAP_OF_UNREAD),
        except: fullTenants(),
      };
    },
    reserve({ runId, tenant, bytes }) {
      const estimate = bytes * HEAP_OF_UNREAD;
      set({ runId, tenant, run: undefined, bytes: estimate, grown: 0, isLeaving: false });
    },
    hold(run) {
      const { runId, tenant } = run.record;
      const bytes = runBytes(run.record, run.state);
      set({ runId, tenant, run, bytes, grown: 0, isLeaving: false });
    },
    grew(runId, events) {
      const entry = entries.get(runId);
      if (entry?.run === undefined) return;
      let text = 0;
      for (const { payload, overlay } of events) text += payload.length + (overlay?.length ?? 0);
      entry.grown += text * HEAP_OF_EVENT;
      resize(entry, entry.bytes + text * HEAP_OF_EVENT);
      if (entry.grown < Math.max(LEAST_GROWTH, entry.bytes / 2)) return;
      entry.grown = 0;
      resize(entry, runBytes(entry.run.record, entry.run.state));
    },
    crowded() {
      const tenants = new Set(isFull() ? loads.tenants().map(([tenant]) => tenant) : fullTenants());
      if (tenants.size === 0) return [];
      return entries
        .values()
        .flatMap(({ runId, tenant }) => (tenants.has(tenant) ? runId : []))
        .reverse();
    },
    toGiveBack() {
      const { units, bytes, tenants } = loads.all();
      let excess = bytes - leavingBytes - limits.maxLiveBytes;
      if (excess <= 0 || units <= 1) return [];
      const candidates = entries
        .values()
        .filter(
          ({ tenant, run, isLeaving }) =>
            run !== undefined &&
            !isLeaving &&
            isOverShare(bytes, loads.of(tenant).bytes, tenants, limits.maxLiveBytes),
        )
        .sort((a, b) => b.bytes - a.bytes);
      const chosen: { readonly runId: string; readonly tenant: string }[] = [];
      for (const entry of candidates) {
        if (excess <= 0) break;
        excess -= entry.bytes;
        leavingBytes += entry.bytes;
        entry.isLeaving = true;
        chosen.push({ runId: entry.runId, tenant: entry.tenant });
      }
      return chosen;
    },
  };
}
