import { type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { Caller } from '@weft/engine';
import { isName, type Json, type JsonObject } from '@weft/protocol';
import { isSettled, stateOf, taskOfRun } from './run-task.ts';
import type { A2aSession } from './session.ts';

/** Runs as tasks. All of it is read from the run's log, so that there is no store of tasks that could forget one or tell another story. */
export interface Tasks {
  read(runId: string): Promise<Task>;
  /** The task as it is, what happens to it, and how it stands when nothing more happens by itself. */
  follow(runId: string, waitMs?: number): AsyncGenerator<StreamResponse>;
}

const EVENTS_AT_ONCE = 200;
const LONGEST_PAUSE_MS = 50_000;
const MAX_ID = 128;

export function createTasks(session: A2aSession): Tasks {
  const { host, ended } = session;

  async function lengthOf(caller: Caller, runId: string): Promise<number> {
    const page = await host.runs.events(caller, runId, -1, 1);
    if (page === undefined) throw new TaskNotFoundError('There is no task with this id.');
    return page.nextSeq;
  }

  async function readTask(runId: string): Promise<Task> {
    if (!isName(runId) || runId.length > MAX_ID)
      throw new TaskNotFoundError('There is no task with this id.');
    const snapshot = await session.perform('getRun', { params: { runId } });
    return taskOfRun(snapshot, await outputsOf(snapshot));
  }

  /** They stand in the event that ends the run. */
  async function outputsOf({ runId, status }: JsonObject): Promise<Json | undefined> {
    if (status !== 'completed') return undefined;
    const caller = await session.admit('getRun');
    const length = await lengthOf(caller, String(runId));
    const last = await host.runs.events(caller, String(runId), length - 2, 1);
    const [event] = last?.events ?? [];
    return event === undefined ? undefined : (JSON.parse(event.payload) as JsonObject)['outputs'];
  }

  async function* follow(runId: string, waitMs = Number.POSITIVE_INFINITY): AsyncGenerator<StreamResponse> {
    const until = performance.now() + waitMs;
    const caller = await session.admit('getRun');
    let afterSeq = (await lengthOf(caller, runId)) - 1;
    const first = await readTask(runId);
    yield { payload: { $case: 'task', value: first } };
    let state = taskState(first);
    while (!isSettled(state)) {
      const leftMs = Math.min(until - performance.now(), LONGEST_PAUSE_MS);
      if (leftMs <= 0 || ended.aborted) return;
      await host.runs.waitForEvents(runId, afterSeq, leftMs, ended);
      const page = await host.runs.events(caller, runId, afterSeq, EVENTS_AT_ONCE);
      if (page === undefined) return;
      for (const { type, payload } of page.events) {
        if (type.startsWith('node.')) yield progress(first, type, payload);
      }
      afterSeq += page.events.length;
      if (afterSeq + 1 >= page.nextSeq) state = stateOf(page.status);
    }
    if (isSettled(taskState(first))) return;
    yield* closing(await readTask(runId));
  }

  return { read: readTask, follow };
}

export function taskState({ status }: Task): TaskState {
  return status?.state ?? TaskState.TASK_STATE_UNSPECIFIED;
}

function progress({ id, contextId }: Task, event: string, payload: string): StreamResponse {
  const { nodeId } = JSON.parse(payload) as JsonObject;
  return {
    payload: {
      $case: 'statusUpdate',
      value: {
        taskId: id,
        contextId,
        status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined },
        metadata: { openwop: { event, nodeId } },
      },
    },
  };
}

function* closing({ id, contextId, status, artifacts, metadata }: Task): Generator<StreamResponse> {
  for (const artifact of artifacts)
    yield {
      payload: {
        $case: 'artifactUpdate',
        value: { taskId: id, contextId, artifact, append: false, lastChunk: true, metadata: undefined },
      },
    };
  yield { payload: { $case: 'statusUpdate', value: { taskId: id, contextId, status, metadata } } };
}
