import { isTerminalStatus } from '../model/run-state.ts';
import type { LeasedTask, NewTask, StoredTask, Tasks } from '../ports/store.ts';
import type { MemoryData } from './data.ts';

export interface MemoryTask {
  task: NewTask;
  lease: number;
  holder: string | undefined;
  losses: number;
  note?: string;
  result?: string;
}

export interface TaskNews {
  readonly offered: () => void;
  readonly changed: (runId: string) => void;
}

export function memoryTasks(
  data: MemoryData,
  clock: () => number,
  { offered, changed }: TaskNews,
): Omit<Tasks, 'watchTasks'> {
  const isAlive = (holder: string | undefined): boolean =>
    holder !== undefined && clock() < (data.holders.get(holder)?.deadline ?? 0);
  const isClaimed = ({ runId, epoch }: NewTask): boolean => {
    const run = data.runs.get(runId);
    return run !== undefined && run.epoch === epoch && !isTerminalStatus(run.head.status);
  };
  const held = (taskId: string, lease: number): MemoryTask | undefined => {
    const stored = data.tasks.get(taskId);
    return stored?.lease === lease && stored.holder !== undefined ? stored : undefined;
  };

  function mayLease({ task, holder, losses, result }: MemoryTask): boolean {
    if (result !== undefined || isAlive(holder) || !isClaimed(task)) return false;
    return !task.isOnce || (losses === 0 && holder === undefined);
  }

  function lease(stored: MemoryTask, holder: string): LeasedTask {
    if (stored.holder !== undefined) stored.losses += 1;
    stored.lease += 1;
    stored.holder = holder;
    delete stored.note;
    const run = data.runs.get(stored.task.runId);
    if (run !== undefined && run.holder === undefined) run.head = { ...run.head, wakeAt: 0 };
    return { ...stored.task, lease: stored.lease };
  }

  function put(task: NewTask): void {
    const known = data.tasks.get(task.taskId);
    if (known === undefined) data.tasks.set(task.taskId, { task, lease: 0, holder: undefined, losses: 0 });
    else known.task = { ...known.task, epoch: task.epoch };
  }

  function isAnyTaken(runId: string): boolean {
    return [...data.tasks.values()].some(
      ({ task, holder, result }) => task.runId === runId && (result !== undefined || isAlive(holder)),
    );
  }

  return {
    async offerTask(task) {
      if (!isClaimed(task)) return false;
      put(task);
      offered();
      return true;
    },
    async parkRun({ runId, epoch, wakeAt }, tasks) {
      const run = data.runs.get(runId);
      if (run?.epoch !== epoch || run.holder === undefined || isTerminalStatus(run.head.status)) return false;
      if (isAnyTaken(runId)) return false;
      run.epoch += 1;
      run.holder = undefined;
      run.head = { ...run.head, wakeAt };
      for (const task of tasks) put({ ...task, epoch: run.epoch });
      offered();
      return true;
    },
    async claimTasks(holder, tenant, types, limit) {
      const free = [...data.tasks.values()].filter(
        (stored) =>
          stored.task.tenant === tenant &&
          types.some(
            ({ typeId, version }) => typeId === stored.task.typeId && version === stored.task.version,
          ) &&
          mayLease(stored),
      );
      return free.slice(0, limit).map((stored) => lease(stored, holder));
    },
    async noteTask(taskId, number, note) {
      const stored = held(taskId, number);
      if (stored !== undefined) stored.note = note;
    },
    async settleTask(taskId, number, result) {
      const stored = held(taskId, number);
      if (stored === undefined) return false;
      stored.result ??= result;
      changed(stored.task.runId);
      return true;
    },
    async returnTask(taskId, number, isLost) {
      const stored = held(taskId, number);
      if (stored === undefined || stored.result !== undefined) return;
      stored.holder = undefined;
      if (isLost) stored.losses += 1;
      delete stored.note;
      changed(stored.task.runId);
      offered();
    },
    async withdrawTask(taskId, epoch, unlessTaken) {
      const stored = data.tasks.get(taskId);
      if (stored === undefined || stored.task.epoch !== epoch) return false;
      if (unlessTaken && (stored.result !== undefined || isAlive(stored.holder))) return false;
      data.tasks.delete(taskId);
      changed(stored.task.runId);
      return true;
    },
    async readTasks(runIds) {
      return [...data.tasks.values()]
        .filter(({ task }) => runIds.includes(task.runId))
        .map((stored) => shown(stored, isAlive(stored.holder)));
    },
  };
}

function shown({ task, lease, holder, losses, note, result }: MemoryTask, isAlive: boolean): StoredTask {
  const { taskId, runId, epoch } = task;
  return {
    taskId,
    runId,
    epoch,
    lease,
    losses: losses + (holder !== undefined && !isAlive && result === undefined ? 1 : 0),
    ...(holder !== undefined && isAlive && { holder }),
    ...(note !== undefined && { note }),
    ...(result !== undefined && { result }),
  };
}

/** Of runs that have ended nothing is left to be done. */
export function pruneTasks(data: MemoryData): number {
  let removed = 0;
  for (const [taskId, { task }] of data.tasks) {
    const run = data.runs.get(task.runId);
    if (run !== undefined && !isTerminalStatus(run.head.status)) continue;
    data.tasks.delete(taskId);
    removed += 1;
  }
  return removed;
}

export function removeTasks(data: MemoryData, runId: string): void {
  for (const [taskId, { task }] of data.tasks) if (task.runId === runId) data.tasks.delete(taskId);
}
