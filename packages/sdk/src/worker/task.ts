import type { TaskError, WorkerMessage } from '@weft/protocol/plain';
import { jsonTextOf } from '../nodes/json-values.ts';
import type { LogLevel, NodeContext, NodeDefinition } from '../nodes/node-definition.ts';
import { NodeEnd } from '../nodes/node-end.ts';
import { LONGEST_MESSAGE, NodeError, type StopReason, stopError, taskErrorOf } from '../nodes/node-error.ts';
import type { Piece, Sender } from './outgoing.ts';

export type TaskMessage = Extract<WorkerMessage, { type: 'task' }>;

/**
 * A task that this worker has.
 *
 *   running ──function ends──► ended ──result answered──► (gone)
 *      └──stop──► stopped ──function ends──► (gone)        what it returns is dropped
 */
export interface Task extends Sender {
  readonly message: TaskMessage;
  state: 'running' | 'ended' | 'stopped';
  /** Aborts the function's signal; nothing that it does is reported from now on. */
  stop(reason: StopReason): void;
  /** Moves text that was gathered to what is sent. */
  gather(): void;
}

export interface TaskHooks {
  readonly send: (task: Task, piece: Piece) => void;
  /** It has text or progress that may wait a moment. */
  readonly waits: (task: Task) => void;
  readonly ended: (task: Task) => void;
  /** Performs the function; the default is to call it. */
  readonly around?: Around | undefined;
}

/** Called for every task in place of the function, which `perform` performs: for tracing, and what follows a task around. */
export type Around = (task: TaskMessage, perform: () => Promise<object>) => Promise<object>;

/** Text that is gathered before it is sent; at most as much as a host takes in one piece. */
const GATHERED = 4_096;
const LONGEST_CHUNK = 16_384;
/** What one task may have waiting. */
const MOST_WAITING = 1024 * 1024;
const LARGEST_OUTPUTS = 900 * 1024;

export function startTask(message: TaskMessage, node: NodeDefinition, hooks: TaskHooks): Task {
  const ref = refText(message.taskId, message.lease);
  let controller: AbortController | undefined;
  let text = '';
  let chunks = 0;
  let waiting = 0;
  let progress: string | undefined;

  const task: Task = {
    ref,
    message,
    state: 'running',
    waiting: [],
    sent: [],
    stop(reason) {
      if (task.state === 'stopped') return;
      const wasRunning = task.state === 'running';
      task.state = 'stopped';
      if (wasRunning) abort(reason);
    },
    gather() {
      if (text !== '') sendText();
      if (progress !== undefined) {
        hooks.send(task, { section: 'progress', text: `{${ref}${progress}}` });
        progress = undefined;
      }
    },
  };

  function abort(reason: StopReason): void {
    controller ??= new AbortController();
    controller.abort(stopError(reason));
  }

  function signal(): AbortSignal {
    controller ??= new AbortController();
    return controller.signal;
  }

  function sendText(): void {
    for (const piece of piecesOf(text)) {
      hooks.send(task, {
        section: 'chunks',
        text: `{${ref},"index":${chunks},"text":${JSON.stringify(piece)}}`,
      });
      chunks += 1;
    }
    text = '';
  }

  /** Code that reports in a loop without end must not fill the memory. */
  function charge(characters: number): void {
    if (task.sent.length === 0 && task.waiting.length === 0) waiting = 0;
    waiting += characters + 64;
    if (waiting > MOST_WAITING) {
      throw new NodeError(
        'reports_too_fast',
        `More than ${MOST_WAITING} characters of text and logs of this node wait to be sent. Await something in between.`,
      );
    }
  }

  const context: NodeContext = {
    inputs: message.inputs,
    config: message.config,
    secrets: message.secrets ?? {},
    invocationId: message.invocationId,
    attempt: message.attempt,
    runId: message.runId,
    nodeId: message.nodeId,
    workflowId: message.workflowId,
    traceparent: message.traceparent,
    run: message.run,
    // Made when it is asked for: many functions have no use for one.
    get signal() {
      return signal();
    },
    emit(piece) {
      if (task.state !== 'running' || piece === '') return;
      charge(piece.length);
      text += piece;
      if (text.length >= GATHERED) sendText();
      hooks.waits(task);
    },
    heartbeat(details) {
      if (task.state === 'stopped') signal().throwIfAborted();
      if (task.state !== 'running') return;
      progress = details === undefined ? '' : `,"details":${jsonOf(details, 'The details of a heartbeat')}`;
      hooks.waits(task);
    },
    log(level, line, fields) {
      if (task.state !== 'running') return;
      const entry = logText(ref, level, line, fields);
      charge(entry.length);
      hooks.send(task, { section: 'logs', text: entry });
      hooks.waits(task);
    },
  };

  function finish(result: string): void {
    if (task.state === 'running') {
      task.gather();
      task.state = 'ended';
      hooks.send(task, { section: 'results', text: `{${ref},${result}}` });
    }
    hooks.ended(task);
  }

  // `run` takes what the host has checked against the schemas.
  const call = async () => node.run(context as NodeContext<never, never, never>);
  (hooks.around === undefined ? call() : hooks.around(message, call)).then(
    (outputs) => finish(resultOf(outputs)),
    (error: unknown) => finish(errorText(taskErrorOf(error))),
  );
  return task;
}

/** The members that name a task in a report. */
export function refText(taskId: string, lease: number): string {
  return `"taskId":${JSON.stringify(taskId)},"lease":${lease}`;
}

/** The report of an error in place of a result. */
export function errorResult(ref: string, error: TaskError): Piece {
  return { section: 'results', text: `{${ref},${errorText(error)}}` };
}

function resultOf(returned: object): string {
  try {
    const isEnd = returned instanceof NodeEnd;
    const json = jsonTextOf(isEnd ? returned.parts : returned);
    if (json.length <= LARGEST_OUTPUTS) return isEnd ? json.slice(1, -1) : `"outputs":${json}`;
    throw new NodeError(
      'output_too_large',
      `The outputs have ${json.length} characters of JSON. Store large data elsewhere and return a reference to it.`,
    );
  } catch (error) {
    return errorText(taskErrorOf(error));
  }
}

function errorText(error: TaskError): string {
  const json = JSON.stringify(error);
  if (json.length <= LARGEST_OUTPUTS) return `"error":${json}`;
  const { details: _tooLarge, ...rest } = error;
  return `"error":${JSON.stringify(rest)}`;
}

function logText(ref: string, level: LogLevel, message: string, fields?: object): string {
  const line = JSON.stringify(message.slice(0, LONGEST_MESSAGE));
  const extra = fields === undefined ? '' : `,"fields":${jsonOf(fields, 'The fields of a log line')}`;
  return `{${ref},"level":"${level}","message":${line}${extra}}`;
}

const LARGEST_DETAILS = 64 * 1024;

function jsonOf(value: unknown, what: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined;
  }
  if (text === undefined) throw new NodeError('invalid_report', `${what} are not JSON.`);
  if (text.length > LARGEST_DETAILS)
    throw new NodeError(
      'invalid_report',
      `${what} have ${text.length} characters of JSON; at most ${LARGEST_DETAILS}.`,
    );
  return text;
}

/** Never between the two halves of a character. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + LONGEST_CHUNK, text.length);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last <= 0xdbff) to -= 1;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
