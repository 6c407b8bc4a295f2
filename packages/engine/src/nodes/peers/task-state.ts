import type { Json, JsonObject } from '@weft/protocol';
import { NodeFailure, type NodeResult, type Question } from '../../model/node-type.ts';
import type { PeerPart, PeerTask, PeerTaskState } from '../../ports/peers.ts';

/** What the state of a remote task makes of the node, and so of the run. */
export type TaskMove =
  | 'follow'
  | { readonly ask: Question }
  | { readonly failure: NodeFailure }
  | Pick<NodeResult, 'outputs'>;

interface Place {
  readonly peer: string;
  readonly cardDigest: string;
}

type Move = (task: PeerTask, place: Place) => TaskMove;

/** The protocol's mapping of task states to runs, with its drifts: authentication is a question, rejection a failure. */
const MOVES: Readonly<Record<PeerTaskState, Move>> = {
  UNSPECIFIED: () => 'follow',
  SUBMITTED: () => 'follow',
  WORKING: () => 'follow',
  INPUT_REQUIRED: (task, { peer }) => ({ ask: questionOf(task, peer) }),
  AUTH_REQUIRED: (task, { peer }) => ({ ask: questionOf(task, peer, { subkind: 'auth' }) }),
  COMPLETED: (task, place) => ({ outputs: outputsOf(task, place) }),
  FAILED: ending('remote_failed', 'failed the task'),
  CANCELED: ending('remote_cancelled', 'cancelled the task'),
  REJECTED: ending('rejected_by_remote', 'rejected the task'),
};

export function moveOf(task: PeerTask, place: Place): TaskMove {
  return MOVES[task.state](task, place);
}

const MAX_TEXT = 4_096;
const MAX_REASON = 500;

function questionOf(
  { taskId = '', state, message = [] }: PeerTask,
  peer: string,
  more: JsonObject = {},
): Question {
  const asked = textOf(message).slice(0, MAX_TEXT);
  const fallback = `The agent "${peer}" waits for ${state === 'AUTH_REQUIRED' ? 'an authentication' : 'input'}.`;
  return {
    kind: 'clarification',
    data: {
      questions: [{ id: 'answer', question: asked === '' ? fallback : asked }],
      contextType: 'a2a',
      metadata: { peer, taskId, state, ...more, ...dataOf(message) },
    },
  };
}

/** What a program may want of the question in addition to its text. */
function dataOf(message: readonly PeerPart[]): JsonObject {
  const data = message.find((part) => part['data'] !== undefined)?.['data'];
  return data === undefined ? {} : { untrustedData: data };
}

function ending(code: string, did: string): Move {
  return ({ taskId, message = [] }, { peer }) => {
    const reason = textOf(message).slice(0, MAX_REASON);
    const says = reason === '' ? '' : ` It says: ${reason}`;
    const details = { peer, ...(taskId !== undefined && { taskId }) };
    return { failure: new NodeFailure(code, `The agent "${peer}" has ${did}.${says}`, { details }) };
  };
}

function outputsOf(
  { taskId, contextId, state, message = [], artifacts = [] }: PeerTask,
  { peer, cardDigest }: Place,
): JsonObject {
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  return {
    output: outputOf(parts.length === 0 ? message : parts),
    artifacts: artifacts.map(({ name, parts: held }) => ({
      ...(name !== undefined && { name }),
      parts: [...held],
    })),
    message: [...message],
    task: {
      peer,
      state,
      cardDigest,
      ...(taskId !== undefined && { taskId }),
      ...(contextId !== undefined && { contextId }),
    },
  };
}

/** What most want of a result: its data, or its text, or else its parts. */
function outputOf(parts: readonly PeerPart[]): Json {
  const [only] = parts;
  if (parts.length === 1 && only?.['data'] !== undefined) return only['data'];
  return parts.length > 0 && parts.every((part) => typeof part['text'] === 'string')
    ? textOf(parts)
    : [...parts];
}

function textOf(parts: readonly PeerPart[]): string {
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}
