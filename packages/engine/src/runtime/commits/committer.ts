import { heapBytesOf } from '../../core/json/heap-bytes.ts';
import type { Commits, WriteResult, WriteUnit } from '../../ports/store.ts';
import { pause } from '../../ports/clock.ts';
import { createFairQueue } from '../fairness/fair-queue.ts';
import { createLoads, type Load } from '../fairness/loads.ts';
import { errorFields, type Log } from '../../ports/log.ts';

/**
 * Group commit. A unit waits for the end of the present turn of the event loop, or for the group before it to be durable,
 * whichever is later; all units that wait by then go to the store as one group, filled by tenants in turn. Runs that were served together come back
 * together, but not all in the same turn: while there are fewer than in the last group, and each turn brings more of them, they
 * are waited for, a few turns at most.
 *
 * W-33. One group is in flight at a time; units of a tenant reach the store in the order they were submitted.
 * W-34. `submit` resolves only when the unit's outcome is known, or when asking for it has failed for too long.
 * W-35. A group is bounded by units and bytes, but always holds at least one unit.
 * W-36. A tenant's first unit comes before any tenant's second: a tenant that writes little does not wait for one that
 *       writes much.
 */
export interface Committer {
  submit(unit: WriteUnit): Promise<CommitResult>;
  /** What waits or is in flight. */
  waiting(): Load & { readonly tenants: number };
  /** The same of one tenant. */
  waitingOf(tenant: string): Load;
  /** The last group could not be written, for reasons of the store. */
  isRefused(): boolean;
  /** Groups written since the start, and the units in them. */
  written(): { readonly groups: number; readonly units: number };
  /** Resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void>;
}

/** `lost`: the outcome was unknown, and the store has since said that nothing was written. */
export type CommitResult = WriteResult | { readonly state: 'lost' };

export interface CommitterOptions {
  readonly store: Commits;
  readonly maxUnits: number;
  readonly maxBytes: number;
  readonly log: Log;
  /** Waits between two questions about an unknown outcome; their number is the bound. */
  readonly askDelaysMs?: readonly number[];
}

interface Waiting {
  readonly unit: WriteUnit;
  readonly bytes: number;
  readonly tenant: string;
  readonly resolve: (result: CommitResult) => void;
}

/** Turns that a group waits for more, beyond its first. */
const MOST_TURNS = 4;
const ASK_DELAYS_MS = [0, 20, 100, 400, 1_500];

export function createCommitter(options: CommitterOptions): Committer {
  const { store, log } = options;
  const delays = options.askDelaysMs ?? ASK_DELAYS_MS;
  const queue = createFairQueue<Waiting>();
  const loads = createLoads();
  let busy = false;
  let groups = 0;
  let units = 0;
  let lastSize = 0;
  let refused = false;
  let idlers: (() => void)[] = [];

  function submit(unit: WriteUnit): Promise<CommitResult> {
    return new Promise((resolve) => {
      const bytes = sizeOf(unit);
      const tenant = tenantOf(unit);
      queue.push({ unit, bytes, tenant, resolve }, tenant);
      loads.add(tenant, 1, bytes);
      if (busy) return;
      busy = true;
      setImmediate(begin, 0, 0);
    });
  }

  function begin(turns: number, before: number): void {
    const size = queue.waiting();
    if (size < lastSize && size > before && turns < MOST_TURNS) setImmediate(begin, turns + 1, size);
    else void drain();
  }

  async function drain(): Promise<void> {
    while (queue.waiting() > 0) await commitGroup(takeGroup());
    busy = false;
    const resolved = idlers;
    idlers = [];
    for (const resolve of resolved) resolve();
  }

  function takeGroup(): readonly Waiting[] {
    const group: Waiting[] = [];
    let bytes = 0;
    for (let next = queue.next(); next !== undefined; next = queue.next()) {
      if (group.length > 0 && (group.length >= options.maxUnits || bytes + next.bytes > options.maxBytes))
        break;
      queue.take()?.leave();
      group.push(next);
      bytes += next.bytes;
    }
    return group;
  }

  async function commitGroup(group: readonly Waiting[]): Promise<void> {
    groups += 1;
    units += group.length;
    lastSize = group.length;
    const results = await write(group.map((waiting) => waiting.unit));
    const doubtful: Promise<void>[] = [];
    // The rules of the store refuse a unit, too; that says nothing about the store.
    refused = results.length > 0 && results.every(isOfStore);
    group.forEach((waiting, index) => {
      const result = results[index] ?? {
        state: 'unknown',
        cause: new Error('the store gave no result for this unit'),
      };
      if (result.state === 'unknown') doubtful.push(settle(waiting, result));
      else finish(waiting, result);
      if (result.state === 'failed')
        log(
          'error',
          { ...unitFields(waiting.unit), ...errorFields(result.cause) },
          'the store cannot take a write',
        );
    });
    // The next group waits for the truth about this one: what follows an unknown write depends on it.
    await Promise.all(doubtful);
  }

  async function write(group: readonly WriteUnit[]): Promise<readonly WriteResult[]> {
    try {
      return await store.commit(group);
    } catch (cause) {
      log('error', { units: group.length, ...errorFields(cause) }, 'commit failed, its outcome is unknown');
      return group.map(() => ({ state: 'unknown', cause }));
    }
  }

  async function settle(waiting: Waiting, unknown: CommitResult): Promise<void> {
    for (const delay of delays) {
      if (delay > 0) await pause(delay);
      try {
        const durable = await store.committed(waiting.unit);
        if (!durable) log('error', unitFields(waiting.unit), 'a write was lost');
        return finish(waiting, { state: durable ? 'committed' : 'lost' });
      } catch (error) {
        log('warn', errorFields(error), 'the store does not say whether a write is durable');
      }
    }
    log('error', unitFields(waiting.unit), 'whether a write is durable stays unknown');
    finish(waiting, unknown);
  }

  function finish(waiting: Waiting, result: CommitResult): void {
    loads.add(waiting.tenant, -1, -waiting.bytes);
    waiting.resolve(result);
  }

  return {
    submit,
    waiting: loads.all,
    waitingOf: loads.of,
    isRefused: () => refused,
    written: () => ({ groups, units }),
    idle: () => (busy ? new Promise((resolve) => idlers.push(resolve)) : Promise.resolve()),
  };
}

function isOfStore(result: WriteResult): boolean {
  return result.state === 'unknown' || (result.state === 'refused' && result.reason === 'store_full');
}

function unitFields(unit: WriteUnit): { unit: string; runId?: string } {
  return 'runId' in unit ? { unit: unit.kind, runId: unit.runId } : { unit: unit.kind };
}

/** Writes of the host itself. */
const NO_TENANT = '';

function tenantOf(unit: WriteUnit): string {
  switch (unit.kind) {
    case 'key':
      return unit.key.tenant;
    case 'setting':
    case 'audit':
      return unit.idempotency?.tenant ?? unit.audit?.[0]?.tenant ?? NO_TENANT;
    case 'suspicion':
      return NO_TENANT;
    default:
      return unit.tenant ?? NO_TENANT;
  }
}

/** Roughly the bytes a unit brings; exactness is not needed to bound a group. */
function sizeOf(unit: WriteUnit): number {
  switch (unit.kind) {
    case 'run': {
      let bytes = 256 + (unit.checkpoint?.state.length ?? 0);
      // Inputs are written by the store, and take the longer the more values they hold.
      if (unit.create !== undefined) bytes += heapBytesOf(unit.create.record.inputs);
      for (const event of unit.events) bytes += 128 + event.payload.length + (event.overlay?.length ?? 0);
      return bytes;
    }
    case 'workflow':
      return 256 + unit.definition.length;
    case 'command':
    case 'key':
    case 'revoke-key':
    case 'setting':
    case 'outbox':
    case 'audit':
    case 'purge':
    case 'erase':
    case 'suspicion':
      return 256;
    case 'document':
      return 256 + (unit.body?.length ?? 0);
    case 'blob':
      return 256 + unit.bytes.length;
  }
}
