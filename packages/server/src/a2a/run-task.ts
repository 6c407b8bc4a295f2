import { type Artifact, type Message, type Part, Role, type Task, TaskState } from '@a2a-js/sdk';
import { isJsonObject, type Json, type JsonObject, type SnapshotStatus } from '@weft/protocol';
import { type AskedQuestion, questionOf } from '../protocols/question.ts';

/** The protocol's mapping. What comes from outside by other ways than a message is work. */
const STATES: Readonly<Record<SnapshotStatus, TaskState>> = {
  pending: TaskState.TASK_STATE_SUBMITTED,
  running: TaskState.TASK_STATE_WORKING,
  paused: TaskState.TASK_STATE_WORKING,
  cancelling: TaskState.TASK_STATE_WORKING,
  'waiting-approval': TaskState.TASK_STATE_INPUT_REQUIRED,
  'waiting-input': TaskState.TASK_STATE_INPUT_REQUIRED,
  'waiting-external': TaskState.TASK_STATE_WORKING,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  cancelled: TaskState.TASK_STATE_CANCELED,
};

const TERMINAL: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
]);

export function stateOf(status: string): TaskState {
  return STATES[status as SnapshotStatus];
}

export function isTerminal(state: TaskState): boolean {
  return TERMINAL.has(state);
}

/** Nothing happens by itself any more: it has ended, or a message is to come. */
export function isSettled(state: TaskState): boolean {
  return isTerminal(state) || state === TaskState.TASK_STATE_INPUT_REQUIRED;
}

/** A run as a task. `outputs` are those of a run that has completed. */
export function taskOfRun(snapshot: JsonObject, outputs: Json | undefined): Task {
  const { runId, status, workflowId, error, completedAt, startedAt } = snapshot;
  const id = String(runId);
  const state = stateOf(String(status));
  const contextId = contextOf(snapshot, id);
  const question = state === TaskState.TASK_STATE_INPUT_REQUIRED ? questionOf(snapshot) : undefined;
  const said = question === undefined ? errorParts(error) : questionParts(question);
  return {
    id,
    contextId,
    status: {
      state,
      message: said.length === 0 ? undefined : messageOf(id, contextId, said),
      timestamp: String(completedAt ?? startedAt ?? '') || undefined,
    },
    artifacts: outputs === undefined ? [] : [outputArtifact(outputs)],
    history: [],
    metadata: {
      openwop: {
        status,
        workflowId,
        ...(question !== undefined && { interrupt: { kind: question.kind, nodeId: question.nodeId } }),
        ...(error !== undefined && { error }),
      },
    },
  };
}

/** The conversation that a client has named; without one a task is its own. */
function contextOf({ metadata }: JsonObject, id: string): string {
  const given = isJsonObject(metadata) ? metadata['a2aContextId'] : undefined;
  return typeof given === 'string' ? given : id;
}

function messageOf(taskId: string, contextId: string, parts: Part[]): Message {
  return {
    messageId: `${taskId}.status`,
    taskId,
    contextId,
    role: Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function outputArtifact(outputs: Json): Artifact {
  return {
    artifactId: 'outputs',
    name: 'outputs',
    description: '',
    parts: [dataPart(outputs)],
    metadata: undefined,
    extensions: [],
  };
}

function questionParts({ kind, data, resumeSchema }: AskedQuestion): Part[] {
  return [
    textPart(textOf(kind, data)),
    dataPart({ kind, ...data, ...(resumeSchema !== undefined && { resumeSchema }) }),
  ];
}

const HOW: Readonly<Record<string, string>> = { approval: 'Answer with accept or reject.' };

function textOf(kind: string, { title, question, prompt, message, questions }: JsonObject): string {
  const several = Array.isArray(questions)
    ? questions.map((each) => (isJsonObject(each) ? each['question'] : undefined))
    : [];
  const texts = [title, question, prompt, message, ...several, HOW[kind]];
  const said = texts.filter((text) => typeof text === 'string' && text !== '').join(' ');
  return said === '' ? 'The workflow asks for an answer.' : said;
}

function errorParts(error: Json | undefined): Part[] {
  if (!isJsonObject(error)) return [];
  return [textPart(`${String(error['code'])}: ${String(error['message'])}`)];
}

function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

function dataPart(value: Json): Part {
  return {
    content: { $case: 'data', value },
    metadata: undefined,
    filename: '',
    mediaType: 'application/json',
  };
}
