import type { Workers } from '../../host/surface/workers.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { OpenEffectPorts } from '../../ports/effect-ports.ts';
import type { Log } from '../../ports/log.ts';
import type { Documents, Tasks } from '../../ports/store.ts';
import type { Committer } from '../commits/committer.ts';
import type { Performer } from '../effects/performer.ts';
import type { NodeTypes, ServedTypes } from '../node-types/node-types.ts';
import type { RandomBytes } from '../runs/ids.ts';
import type { WorkerTask } from '../runs/explain.ts';
import type { Lease } from '../scheduling/lease.ts';
import { createBorrowedTasks } from './borrowed-tasks.ts';
import { createOwnTasks } from './own-tasks.ts';
import { explainTasks } from './explain-task.ts';
import { createPutUpTasks } from './put-up-tasks.ts';
import { createWorkerDirectory, type WorkerDirectory } from './worker-directory.ts';
import { createWorkerHub, type WorkerHub } from './worker-hub.ts';

/** Everything about code of users that is performed elsewhere. */
export interface WorkerRuntime extends ServedTypes, Pick<Performer, 'perform'> {
  readonly workers: Workers;
  readonly counts: WorkerHub['counts'];
  /** Where the tasks of a run stand that this process holds; looked up in the store where another process has them. */
  explain(runId: string): Promise<readonly WorkerTask[]>;
  /** Another process has done something with the run. */
  look(runId: string): void;
  /** The name under which this process holds runs and tasks is lost. */
  claimsLost(): void;
  start(): void;
  /** Workers keep what they have, though this process is about to end. */
  drain(): void;
  /** True when no worker has a task left: then claims may be given up at once. */
  stop(): Promise<boolean>;
}

export interface WorkerDependencies {
  readonly store: Tasks & Documents;
  readonly committer: Committer;
  readonly types: Pick<NodeTypes, 'register' | 'resolveServed' | 'mappedTo' | 'watch'>;
  readonly openPorts: OpenEffectPorts;
  readonly lease: () => Pick<Lease, 'holder' | 'leftMs'>;
  /** What this process is called among those on the same store. */
  readonly node: () => string;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly log: Log;
}

export function createWorkers(dependencies: WorkerDependencies): WorkerRuntime {
  const { limits, lease } = dependencies;
  const own = createOwnTasks({
    ...dependencies,
    hub: () => hub,
    putUp: (waiting) =>
      createPutUpTasks({
        ...dependencies,
        hub: () => hub,
        directory: () => directory,
        everyMs: limits.pollMs,
        readEveryMs: limits.claimTtlMs,
        waiting,
      }),
  });
  const borrowed = createBorrowedTasks({
    ...dependencies,
    hub: () => hub,
    everyMs: limits.claimTtlMs,
    holder: () => lease().holder(),
  });
  const hub: WorkerHub = createWorkerHub({
    ...dependencies,
    claimLeftMs: () => lease().leftMs(),
    findHeld: (...ref) => own.findHeld(...ref) ?? borrowed.findHeld(...ref),
    onServed(tenant) {
      directory.changed(tenant);
      borrowed.unserved(tenant);
      borrowed.served(tenant);
    },
    onRoom: borrowed.room,
  });
  const directory: WorkerDirectory = createWorkerDirectory({
    ...dependencies,
    sessions: hub.sessions,
    everyMs: limits.pollMs,
  });
  let unwatch: (() => void) | undefined;

  return {
    perform: own.perform,
    isServed: (...type) => hub.isServedHere(...type) || directory.isServedElsewhere(...type),
    counts: hub.counts,
    async explain(runId) {
      if (own.of(runId).some(({ elsewhere }) => elsewhere !== undefined)) await own.putUp.read(runId);
      return explainTasks(own.of(runId), dependencies.node());
    },
    look(runId) {
      own.putUp.look(runId);
      borrowed.look(runId);
    },
    claimsLost: borrowed.dropAll,
    workers: {
      register: hub.register,
      stream: async (caller, workerId, sink) => hub.stream(caller, workerId, sink),
      report: hub.report,
      close: async (caller, workerId) => hub.close(caller, workerId),
      list: ({ tenant }) => directory.list(tenant),
    },
    start() {
      own.start();
      borrowed.start();
      hub.start();
      directory.start();
      unwatch = dependencies.types.watch((tenant) => {
        own.remap(tenant);
        borrowed.served(tenant);
      });
    },
    drain: hub.drain,
    async stop() {
      unwatch?.();
      const isFree = !borrowed.hasHeld();
      borrowed.stop();
      own.putUp.stop();
      hub.stop();
      await directory.stop();
      return isFree && !own.hasCutOff();
    },
  };
}
