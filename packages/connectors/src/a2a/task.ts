import type { Message, Part, Task } from '@a2a-js/sdk';
import { NodeFailure, type PeerArtifact, type PeerPart, type PeerTask, TASK_STATES } from '@weft/engine';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { protocolError } from './failures.ts';
import { A2A_LIMITS } from './limits.ts';

/** What a peer answers to a message: a task, or a message when there is nothing more to do. */
export function readAnswer(peer: string, answer: Task | Message): PeerTask {
  if ('messageId' in answer) {
    const { contextId, parts } = answer;
    return bounded(peer, {
      ...(isId(contextId) && { contextId }),
      state: 'COMPLETED',
      message: readParts(parts),
    });
  }
  return readTask(peer, answer);
}

export function readTask(peer: string, task: Task, wanted?: string): PeerTask {
  const { id, contextId, status, artifacts } = task;
  if (!isId(id)) throw protocolError(peer, 'the task has no id.');
  if (wanted !== undefined && id !== wanted)
    throw protocolError(peer, 'it is about another task than the one asked for.');
  const state = TASK_STATES.at(Math.max(status?.state ?? 0, 0));
  if (state === undefined) throw protocolError(peer, 'the task is in a state that A2A does not have.');
  const kept = (Array.isArray(artifacts) ? artifacts : []).map(
    ({ name, parts }): PeerArtifact => ({
      ...(typeof name === 'string' && name !== '' && { name }),
      parts: readParts(parts),
    }),
  );
  return bounded(peer, {
    taskId: id,
    ...(isId(contextId) && { contextId }),
    state,
    ...(status?.message !== undefined && { message: readParts(status.message.parts) }),
    ...(kept.length > 0 && { artifacts: kept }),
  });
}

const MAX_ID = 512;

function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.length <= MAX_ID;
}

function readParts(parts: readonly Part[] | undefined): PeerPart[] {
  return (Array.isArray(parts) ? parts : []).map(({ content, mediaType, filename }: Part): PeerPart => {
    const about = {
      ...(mediaType && { mediaType }),
      ...(filename && { filename }),
    };
    switch (content?.$case) {
      case 'text':
        return { text: content.value, ...about };
      case 'data':
        return { data: (content.value ?? null) as Json, ...about };
      case 'url':
        return { url: content.value, ...about };
      case 'raw':
        return { bytes: Buffer.from(content.value).toString('base64'), ...about };
      default:
        return { ...about };
    }
  });
}

/** Only what can be recorded is kept, and all of it. */
export function bounded(peer: string, task: PeerTask): PeerTask {
  const text = JSON.stringify(task);
  const bytes = Buffer.byteLength(text);
  if (bytes > A2A_LIMITS.taskBytes) {
    throw new NodeFailure(
      'output_too_large',
      `The task of "${peer}" takes ${bytes} bytes; at most ${A2A_LIMITS.taskBytes} can be recorded. Ask the agent for less.`,
      { details: { peer, limit: A2A_LIMITS.taskBytes, observed: bytes } },
    );
  }
  return wellFormed(JSON.parse(text) as JsonObject) as JsonObject & PeerTask;
}

/** Halves of surrogate pairs cannot be stored as UTF-8. */
function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), wellFormed(member)]),
  );
}
