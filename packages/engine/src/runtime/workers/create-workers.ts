import { toIso, type WorkerDocument } from '@weft/protocol';
import type { Workers } from '../../host/surface/workers.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { OpenEffectPorts } from '../../ports/effect-ports.ts';
import type { Log } from '../../ports/log.ts';
import type { Performer } from '../effects/performer.ts';
import type { NodeTypes, ServedTypes } from '../node-types/node-types.ts';
import type { RandomBytes } from '../runs/ids.ts';
import { createOwnTasks } from './own-tasks.ts';
import type { ServedTask } from './served-task.ts';
import { createWorkerHub, type WorkerHub } from './worker-hub.ts';
import type { WorkerSession } from './worker-session.ts';

/** Everything about code of users that is performed elsewhere. */
export interface WorkerRuntime extends ServedTypes, Pick<Performer, 'perform'> {
  readonly workers: Workers;
  readonly counts: WorkerHub['counts'];
  /** Tasks of a run that this process holds. */
  tasksOf(runId: string): readonly ServedTask[];
  start(): void;
  /** Workers keep what they have, though this process is about to end. */
  drain(): void;
  /** True when no worker has a task left: then claims may be given up at once. */
  stop(): boolean;
}

export interface WorkerDependencies {
  readonly types: Pick<NodeTypes, 'register' | 'resolveServed' | 'watch'>;
  readonly openPorts: OpenEffectPorts;
  readonly claimLeftMs: () => number;
  /** What this process is called among those on the same store. */
  readonly node: () => string;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly log: Log;
}

export function createWorkers(dependencies: WorkerDependencies): WorkerRuntime {
  const own = createOwnTasks({ ...dependencies, hub: () => hub });
  const hub: WorkerHub = createWorkerHub({
    ...dependencies,
    findHeld: own.findHeld,
    onServed: () => undefined,
    onWaiting: () => undefined,
  });
  let unwatch: (() => void) | undefined;

  return {
    perform: own.perform,
    isServed: hub.isServedHere,
    counts: hub.counts,
    tasksOf: own.of,
    workers: {
      register: hub.register,
      stream: async (caller, workerId, sink) => hub.stream(caller, workerId, sink),
      report: hub.report,
      close: async (caller, workerId) => hub.close(caller, workerId),
      async list({ tenant }) {
        const sessions = [...hub.sessions()].filter(({ about }) => about.tenant === tenant);
        return sessions.map((session) => documentOf(session, dependencies.node()));
      },
    },
    start() {
      own.start();
      hub.start();
      unwatch = dependencies.types.watch(own.remap);
    },
    drain: hub.drain,
    stop() {
      unwatch?.();
      hub.stop();
      return !own.hasCutOff();
    },
  };
}

function documentOf(session: WorkerSession, node: string): WorkerDocument {
  const { workerId, name, connectedAt, types, sdk } = session.about;
  return {
    workerId,
    name,
    node,
    state: session.state,
    connectedAt: toIso(connectedAt),
    capacity: session.capacity,
    running: session.held.size,
    types: [...types],
    ...(sdk !== undefined && { sdk }),
  };
}
