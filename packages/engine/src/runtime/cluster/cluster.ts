import type { Claims, Documents, HolderRow } from '../../ports/store.ts';
import type { Cluster, ClusterNode } from '../../host/host.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import type { Dispatcher } from '../scheduling/dispatcher.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { Lease } from '../scheduling/lease.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import { HOST_TENANT } from '../outbox/subscriptions.ts';
import { writeFailure } from '../commits/write-failure.ts';

/**
 * This process as one of several. With every heartbeat it says who it is and how it stands; and it looks for a request to hold
 * no runs any more, which any of the others may have left in the store.
 *
 *   active ──request──► draining ──nothing held any more──► drained
 *
 * There is no way back: a process that is drained is about to be stopped, and the next one has another name.
 */
export interface ClusterMember {
  /** For the store, with each heartbeat. */
  about(): string;
  readonly name: string;
  start(): void;
  stop(): void;
  readonly cluster: Cluster;
}

export interface ClusterDependencies {
  readonly store: Claims & Documents;
  readonly committer: Committer;
  readonly dispatcher: Pick<Dispatcher, 'drain' | 'isIdle'>;
  readonly lease: Pick<Lease, 'holder' | 'renew'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  /** Unique to this process. */
  readonly name: string;
  readonly version: string;
  readonly everyMs: number;
}

interface About {
  readonly name: string;
  readonly version: string;
  readonly startedAt: number;
  readonly state: 'active' | 'draining' | 'drained';
}

const COLLECTION = 'cluster.drain';
/** Long enough for a process that is busy, short enough that names of the past are forgotten. */
const REQUEST_KEPT_MS = 24 * 60 * 60 * 1_000;
const IDLE_LOOK_MS = 100;

export function createCluster(dependencies: ClusterDependencies): ClusterMember {
  const { store, committer, dispatcher, lease, clock, name, version, log } = dependencies;
  const startedAt = clock.now();
  let state: About['state'] = 'active';
  let looking: NodeJS.Timeout | undefined;
  let idling: NodeJS.Timeout | undefined;

  function place(node: string) {
    return { tenant: HOST_TENANT, collection: COLLECTION, scope: '', id: node };
  }

  async function look(): Promise<void> {
    if (state !== 'active') return;
    try {
      if ((await store.readDocument(place(name))) !== undefined) drain();
    } catch (error) {
      log('warn', errorFields(error), 'looking for a request to drain failed');
    }
  }

  function drain(): void {
    if (state !== 'active') return;
    state = 'draining';
    log('info', { node: name }, 'draining: this process claims no runs any more');
    dispatcher.drain();
    lease.renew();
    idling = setInterval(() => {
      if (!dispatcher.isIdle()) return;
      clearInterval(idling);
      state = 'drained';
      log('info', { node: name }, 'drained: this process holds no runs');
      lease.renew();
    }, IDLE_LOOK_MS);
    idling.unref();
  }

  async function nodes(): Promise<readonly ClusterNode[]> {
    const own = lease.holder();
    return (await store.holders()).map((row) => nodeOf(row, own));
  }

  return {
    name,
    about: () => JSON.stringify({ name, version, startedAt, state } satisfies About),
    start() {
      looking = setInterval(() => void look(), dependencies.everyMs);
      looking.unref();
    },
    stop() {
      clearInterval(looking);
      clearInterval(idling);
    },
    cluster: {
      nodes,
      async drain(caller, node) {
        const found = (await nodes()).find((each) => each.name === node && each.state !== 'lost');
        if (found === undefined) return undefined;
        const at = clock.now();
        const result = await committer.submit({
          kind: 'document',
          batchId: randomId(dependencies.random),
          ...place(node),
          at,
          expiresAt: at + REQUEST_KEPT_MS,
          body: JSON.stringify({ by: caller.principal }),
          audit: [auditOf(caller, { at, action: 'node.drain', target: node })],
        });
        if (result.state !== 'committed') throw writeFailure(result);
        if (found.isSelf) drain();
        return found.state === 'active' ? { ...found, state: 'draining' } : found;
      },
    },
  };
}

function nodeOf({ name, deadline, isAlive, runs, about }: HolderRow, own: string | undefined): ClusterNode {
  const said = aboutOf(about);
  return {
    name: said?.name ?? name,
    state: isAlive ? (said?.state ?? 'active') : 'lost',
    deadline,
    runs,
    isSelf: name === own,
    ...(said !== undefined && { version: said.version, startedAt: said.startedAt }),
  };
}

/** Written by `about`, perhaps of another version. */
function aboutOf(text: string | undefined): About | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as About);
}
