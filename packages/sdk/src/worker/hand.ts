import type { TaskError } from '@weft/protocol/plain';
import type { NodeDefinition } from '../nodes/node-definition.ts';
import type { StopReason } from '../nodes/node-error.ts';
import { deferred } from './deferred.ts';
import type { Outgoing, Piece } from './outgoing.ts';
import { errorResult, refText, startTask, type Task, type TaskHooks, type TaskMessage } from './task.ts';

export interface TaskRef {
  readonly taskId: string;
  readonly lease: number;
}

/**
 * The tasks that a worker has, through all its sessions.
 *
 * V-2. What a function does after its task was stopped is not reported.
 * V-3. A function that ignores its signal keeps its place: the worker reports one place less until it ends.
 */
export interface Hand {
  /** Tasks that are running, or whose result has not been answered. */
  readonly size: number;
  readonly running: number;
  /** How many tasks it may have at most, now. */
  readonly capacity: number;
  take(message: TaskMessage): void;
  has(ref: TaskRef): boolean;
  refs(): TaskRef[];
  drop(ref: TaskRef, reason: StopReason): void;
  /** The host does not let it continue like this: its function is stopped, and the task ends with the error. */
  fail(ref: TaskRef, error: TaskError): void;
  /** All but these. */
  dropOthers(held: readonly TaskRef[], reason: StopReason): void;
  /** The host has what was sent of it. */
  answered(task: Task): void;
  /** No new tasks; those that come nevertheless are handed back. */
  drain(): void;
  /** Stops what is running. The host gives it to others when the session is closed: how far it came is unknown. */
  stopAll(): void;
  /** Sends what was gathered. */
  gather(): void;
  /** Resolves when nothing is running, at the latest after so long. */
  idle(ms: number): Promise<void>;
}

export interface HandParts {
  readonly concurrency: number;
  readonly find: (message: TaskMessage) => NodeDefinition | undefined;
  readonly outgoing: Outgoing;
  readonly around: TaskHooks['around'];
  /** Something can be sent: now, or in a moment. */
  readonly flush: () => void;
  readonly flushSoon: () => void;
}

export function createHand({ concurrency, find, outgoing, around, ...parts }: HandParts): Hand {
  const tasks = new Map<string, Task>();
  const withText = new Set<Task>();
  let running = 0;
  let deaf = 0;
  let isDraining = false;
  let wake: (() => void) | undefined;

  function changed(): void {
    if (deaf > 0) parts.flush();
    if (running === 0) wake?.();
  }

  const hooks: TaskHooks = {
    around,
    send: (task, piece) => outgoing.add(task, piece),
    waits(task) {
      withText.add(task);
      parts.flushSoon();
    },
    ended(task) {
      if (task.state === 'stopped') deaf -= 1;
      else running -= 1;
      parts.flush();
      changed();
    },
  };

  function remove(task: Task, reason: StopReason): void {
    tasks.delete(task.message.taskId);
    withText.delete(task);
    outgoing.forget(task);
    if (task.state === 'running') {
      running -= 1;
      deaf += 1;
    }
    task.stop(reason);
  }

  const refOf = ({ message: { taskId, lease } }: Task): TaskRef => ({ taskId, lease });

  /** About a task that is not in hand. */
  function say({ taskId, lease }: TaskRef, pieceOf: (ref: string) => Piece): void {
    const ref = refText(taskId, lease);
    outgoing.add({ ref, waiting: [], sent: [] }, pieceOf(ref));
    parts.flush();
  }

  return {
    get size() {
      return tasks.size;
    },
    get running() {
      return running;
    },
    get capacity() {
      return isDraining ? 0 : Math.max(0, concurrency - deaf);
    },
    take(message) {
      const before = tasks.get(message.taskId);
      if (before?.message.lease === message.lease) return; // told twice
      if (before !== undefined) remove(before, 'lease_lost');
      if (isDraining) {
        say(message, (ref) => ({ section: 'returned', text: `{${ref}}` }));
        return;
      }
      const node = find(message);
      if (node === undefined) {
        const text = `This worker does not serve ${message.typeId} ${message.version}.`;
        say(message, (ref) => errorResult(ref, { code: 'node_type_not_served', message: text }));
        return;
      }
      running += 1;
      tasks.set(message.taskId, startTask(message, node, hooks));
    },
    has: ({ taskId, lease }) => tasks.get(taskId)?.message.lease === lease,
    refs: () => Array.from(tasks.values(), refOf),
    drop({ taskId, lease }, reason) {
      const task = tasks.get(taskId);
      if (task?.message.lease === lease) remove(task, reason);
      changed();
    },
    fail({ taskId, lease }, error) {
      const task = tasks.get(taskId);
      if (task?.message.lease !== lease) return;
      remove(task, 'cancelled');
      say(task.message, (ref) => errorResult(ref, error));
      changed();
    },
    dropOthers(held, reason) {
      const kept = new Map(held.map(({ taskId, lease }) => [taskId, lease]));
      for (const task of tasks.values()) {
        if (kept.get(task.message.taskId) !== task.message.lease) remove(task, reason);
      }
      changed();
    },
    answered(task) {
      if (task.state !== 'ended' || task.waiting.length > 0) return;
      tasks.delete(task.message.taskId);
      changed();
    },
    drain() {
      isDraining = true;
      parts.flush();
    },
    stopAll() {
      for (const task of tasks.values()) if (task.state === 'running') remove(task, 'shutdown');
      changed();
    },
    gather() {
      for (const task of withText) task.gather();
      withText.clear();
    },
    async idle(ms) {
      if (running === 0) return;
      const { promise, resolve } = deferred();
      const timer = setTimeout(resolve, ms);
      wake = resolve;
      await promise;
      clearTimeout(timer);
    },
  };
}
