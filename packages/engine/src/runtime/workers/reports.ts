import { HostError, type Json, type TaskReceipt, type TaskReport } from '@weft/protocol';
import type { Outcome } from '../../core/decide/step.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { NodeResult } from '../../model/node-type.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Told } from '../scheduling/waiting-inputs.ts';
import type { Holding, ServedTask } from './served-task.ts';
import type { WorkerSession } from './worker-session.ts';

/** What a worker says of its tasks. Text comes before results, so that the end of a task is the last that is heard of it. */

type Refused = TaskReceipt['refused'];
type Result = NonNullable<TaskReport['results']>[number];
type Chunk = NonNullable<TaskReport['chunks']>[number];

interface Ref {
  readonly taskId: string;
  readonly lease: number;
}

export interface ReportTools {
  readonly clock: Clock;
  readonly limits: HostLimits;
  readonly finish: (task: ServedTask, outcome: Outcome, told: Told) => void;
  readonly giveBack: (task: ServedTask) => void;
}

/** Resolves when all of it is durable; with what was refused. Throws before anything is taken when a part cannot be read. */
export async function takeReport(
  tools: ReportTools,
  session: WorkerSession,
  report: TaskReport,
): Promise<Refused> {
  const { capacity, results = [], chunks = [], progress = [], logs = [], returned = [] } = report;
  for (const [index, result] of results.entries()) assertOneEnd(result, index);
  const refused: Refused = [];
  if (capacity !== undefined) session.capacity = capacity;

  takeProgress(tools.clock, session, progress, refused);
  takeLogs(session, logs, refused);
  const durable = [
    ...takeChunks(tools.limits, session, chunks, refused),
    ...results.map((result) => takeResult(tools, session, result, refused)),
  ];
  for (const ref of returned) {
    const task = heldUnder(session, ref);
    if (task === undefined) refuse(refused, ref);
    else tools.giveBack(task);
  }
  await Promise.all(durable);
  return refused;
}

function assertOneEnd({ outputs, error, ask, variables, channels }: Result, index: number): void {
  const ends = [outputs, error, ask].filter((end) => end !== undefined).length;
  const field = `results.${index}`;
  if (ends !== 1)
    throw new HostError('validation_error', `${field} needs one of outputs, error and ask.`, { field });
  if (outputs === undefined && (variables !== undefined || channels !== undefined))
    throw new HostError('validation_error', `${field} sets variables or channels without outputs.`, {
      field,
    });
}

function heldUnder(session: WorkerSession, { taskId, lease }: Ref): ServedTask | undefined {
  const task = session.held.get(taskId);
  return task?.holding?.lease === lease ? task : undefined;
}

const STALE = 'This worker does not hold the task under this lease; stop it and drop what it returns.';

function refuse(refused: Refused, { taskId, lease }: Ref, error = 'stale_lease', message = STALE): void {
  refused.push({ taskId, lease, error, message });
}

/** What is shown of it; the rest is of no use to a reader of one line. */
const PROGRESS_BYTES = 4_096;

function noteProgress(holding: Holding, details: Json | undefined, clock: Clock): void {
  holding.heardAt = clock.monotonic();
  const isLarge = details !== undefined && Buffer.byteLength(JSON.stringify(details)) > PROGRESS_BYTES;
  holding.progress = { at: clock.now(), details: isLarge ? `more than ${PROGRESS_BYTES} bytes` : details };
}

function takeProgress(
  clock: Clock,
  session: WorkerSession,
  progress: NonNullable<TaskReport['progress']>,
  refused: Refused,
): void {
  for (const ref of progress) {
    const task = heldUnder(session, ref);
    if (task?.holding === undefined) {
      refuse(refused, ref);
      continue;
    }
    noteProgress(task.holding, ref.details, clock);
    task.owner.progressed?.();
  }
}

function takeLogs(session: WorkerSession, logs: NonNullable<TaskReport['logs']>, refused: Refused): void {
  for (const line of logs) {
    const holding = heldUnder(session, line)?.holding;
    if (holding === undefined) refuse(refused, line);
    else holding.log.add({ level: line.level, message: line.message, fields: line.fields });
  }
}

function takeChunks(
  limits: HostLimits,
  session: WorkerSession,
  chunks: readonly Chunk[],
  refused: Refused,
): Promise<void>[] {
  const accepted = new Map<ServedTask, { holding: Holding; chunks: Chunk[] }>();
  for (const chunk of chunks) {
    const task = heldUnder(session, chunk);
    const holding = task?.holding;
    if (task === undefined || holding === undefined) {
      refuse(refused, chunk);
      continue;
    }
    holding.nextChunk ??= chunk.index;
    if (chunk.index < holding.nextChunk) continue; // told twice
    const bytes = Buffer.byteLength(chunk.text);
    if (chunk.index > holding.nextChunk) {
      refuse(refused, chunk, 'validation_error', `The next piece of text has index ${holding.nextChunk}.`);
    } else if (holding.streamedBytes + bytes > limits.taskTextBytes) {
      const message = `An attempt may stream ${limits.taskTextBytes} bytes of text; keep large results in outputs or outside the run.`;
      refuse(refused, chunk, 'output_too_large', message);
    } else {
      holding.nextChunk += 1;
      holding.streamedBytes += bytes;
      const known = accepted.get(task);
      if (known === undefined) accepted.set(task, { holding, chunks: [chunk] });
      else known.chunks.push(chunk);
    }
  }
  return [...accepted].map(([task, { holding, chunks: own }]) => tellChunks(task, holding, own));
}

/** Resolves when they are durable, or will never be: a worker that streams faster than that waits. */
function tellChunks(task: ServedTask, { ports }: Holding, chunks: readonly Chunk[]): Promise<void> {
  return new Promise((resolve) => {
    for (const [place, { index, text }] of chunks.entries()) {
      const told = place === chunks.length - 1 ? () => resolve() : undefined;
      task.owner.chunk({ ...ports.hideChunk({ chunk: text, isLast: false }), index }, told);
    }
  });
}

async function takeResult(
  { finish }: ReportTools,
  session: WorkerSession,
  result: Result,
  refused: Refused,
): Promise<void> {
  const { taskId, lease } = result;
  const task = heldUnder(session, result);
  let isDurable: Promise<boolean> | undefined;
  if (task === undefined) isDurable = session.answeredBefore(taskId, lease);
  else {
    isDurable = new Promise<boolean>((resolve) => finish(task, outcomeOf(result), resolve));
    session.answered(taskId, lease, isDurable);
  }
  if (isDurable === undefined || !(await isDurable)) refuse(refused, result);
}

function outcomeOf({ outputs = {}, error, ...rest }: Result): Outcome {
  if (error === undefined) return { ok: true, outputs, ...usedOfRun(rest) };
  const { code, message, retryable = false, retryAfterMs, details } = error;
  return {
    ok: false,
    error: { code, message, retryable, ...(details !== undefined && { details }) },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function usedOfRun({
  ask,
  record,
  variables,
  channels,
}: Pick<Result, 'ask' | 'record' | 'variables' | 'channels'>): Partial<NodeResult> {
  return {
    ...(ask !== undefined && { ask: { ...ask, data: ask.data ?? {} } }),
    ...(record !== undefined && { record }),
    ...(variables !== undefined && { variables }),
    ...(channels !== undefined && { channels }),
  };
}
