import { type PeerTask, type PeerTaskState, TASK_STATES } from '@weft/engine';
import { isJsonObject, type Json, type JsonObject, parseStrictJson } from '@weft/protocol';
import type { PeerConnection } from './connection.ts';
import { PeerStatusError, protocolError } from './failures.ts';
import { bounded } from './task.ts';

/** The endpoints of the fake peer of conformance suites: `/tasks`, `/tasks/{id}` and `/tasks/{id}/messages`. It has no cancel. */
export function connectPlainly(peer: string, base: URL, fetchImpl: typeof globalThis.fetch): PeerConnection {
  async function ask(method: string, path: string, body?: JsonObject): Promise<PeerTask> {
    const response = await fetchImpl(new URL(path, base.href.replace(/\/*$/, '/')), {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    if (!response.ok) throw new PeerStatusError(response.status);
    return readPlainTask(peer, parseStrictJson(await response.text()));
  }

  return {
    send({ messageId, skill, content, taskId }) {
      const body = { skill, input: content, messageId };
      return taskId === undefined
        ? ask('POST', 'tasks', body)
        : ask('POST', `tasks/${encodeURIComponent(taskId)}/messages`, body);
    },
    task: (taskId) => ask('GET', `tasks/${encodeURIComponent(taskId)}`),
    cancel: (taskId) => Promise.resolve({ taskId, state: 'CANCELED' }),
  };
}

function readPlainTask(peer: string, answer: Json): PeerTask {
  if (!isJsonObject(answer)) throw protocolError(peer, 'it is no object.');
  const { taskId, state = 'UNSPECIFIED', messages } = answer;
  if (typeof taskId !== 'string' || taskId === '') throw protocolError(peer, 'it names no taskId.');
  if (!isState(state)) throw protocolError(peer, 'the task is in a state that A2A does not have.');
  return bounded(peer, {
    taskId,
    state,
    ...(Array.isArray(messages) && { message: [{ data: messages }] }),
  });
}

function isState(state: Json): state is PeerTaskState {
  return TASK_STATES.some((known) => known === state);
}
