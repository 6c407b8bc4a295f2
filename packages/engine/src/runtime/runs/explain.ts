import { type InterruptKind, toIso, waitingFor } from '@weft/protocol';
import type { Plan } from '../../core/compile/plan.ts';
import { isTerminalStatus, type NodeState, type RunState, type StepState } from '../../model/run-state.ts';
import type { ExplainedTask, Explanation } from '../../host/host.ts';
import type { RunRow } from '../../ports/store.ts';
import { type quarantineOf, shownStatus } from './run-status.ts';

type Reason = Pick<Explanation, 'waitingFor' | 'sentence' | 'nodeId' | 'until' | 'childRunId' | 'task'>;

/** A task of a run that workers perform. */
export interface WorkerTask {
  readonly nodeId: string;
  readonly task: ExplainedTask;
}

type Quarantined = NonNullable<ReturnType<typeof quarantineOf>>;

/** Its log is not looked at: that may be what harms the host. */
export function explainQuarantine(
  { record, head, pendingCommands }: RunRow,
  aside: Quarantined,
): Explanation {
  const { runId } = record;
  return {
    runId,
    status: shownStatus(head.status, pendingCommands),
    waitingFor: 'release',
    sentence: `The run is quarantined since ${aside.since}: ${aside.reason} Release it with: weft runs release ${runId}; or cancel it.`,
  };
}

/** A run that waits for a quarantined child. */
export function explainWaitingFor(explanation: Explanation, aside: Quarantined): Explanation {
  const { nodeId = '', childRunId = '' } = explanation;
  return {
    ...explanation,
    sentence: `Node ${nodeId} waits for its child run ${childRunId}, which is quarantined since ${aside.since}: ${aside.reason} See: weft runs why ${childRunId}`,
  };
}

/** No one holds it, and it is not due for the sake of what is running: workers may take its tasks from the store. */
export function isParked({ holder, head }: RunRow): boolean {
  return holder === undefined && head.wakeAt !== 0;
}

/** What a run waits for that was left with its tasks. */
export function parkedTasks({ nodes }: Plan, state: RunState): readonly WorkerTask[] {
  return [...state.nodes.values()].flatMap(({ nodeId, status, startedAt }) => {
    const type = nodes.get(nodeId)?.type;
    const performer = type?.kind === 'steps' ? type.called : type;
    if (status !== 'running' || startedAt === undefined || performer?.kind !== 'effect') return [];
    if (performer.servedBy === undefined) return [];
    const { typeId, version } = performer.servedBy;
    return { nodeId, task: { typeId, version, since: toIso(startedAt) } };
  });
}

/** In one sentence what a run waits for; `tasks` are those at workers, or waiting for one. */
export function explainRun(
  row: RunRow,
  state: RunState,
  now: number,
  tasks: readonly WorkerTask[] = [],
): Explanation {
  return {
    runId: row.record.runId,
    status: shownStatus(state.status, row.pendingCommands),
    ...reasonOf(row, state, now, tasks),
    ...(row.holder !== undefined && { holder: row.holder }),
  };
}

function reasonOf(row: RunRow, state: RunState, now: number, tasks: readonly WorkerTask[]): Reason {
  if (row.record.imported !== undefined) {
    const sentence = `The run was imported and is only read here; it was ${state.status} where it was executed.`;
    return { waitingFor: 'nothing', sentence };
  }
  if (isTerminalStatus(state.status))
    return { waitingFor: 'nothing', sentence: `The run has ended: it is ${state.status}.` };
  const [command] = row.pendingCommands;
  if (command !== undefined) {
    return { waitingFor: 'command', sentence: `A ${command} has been accepted and is being carried out.` };
  }
  switch (state.status) {
    case 'pending':
      return {
        waitingFor: 'queue',
        sentence: 'The run is accepted and waits until a host has room in memory; it was not started yet.',
      };
    case 'paused':
      return { waitingFor: 'resume', sentence: 'The run is paused; resume or cancel it.' };
    case 'waiting-approval':
    case 'waiting-input':
    case 'waiting-external':
      return interruptReason(row, state);
    case 'running':
    case 'completed':
    case 'failed':
    case 'cancelled':
      return runningReason(row, state, now, tasks);
  }
}

function interruptReason(row: RunRow, state: RunState): Reason {
  const node = state.nodes.get(state.suspended[0] ?? '');
  const nodeId = node?.nodeId ?? '';
  const child = node?.child;
  if (child?.waiting !== undefined) {
    return {
      waitingFor: 'child',
      nodeId,
      childRunId: child.runId,
      sentence: `Node ${nodeId} waits for its child run ${child.runId}, which is ${child.waiting}; see: weft runs why ${child.runId}`,
    };
  }
  const run = row.record.runId;
  const kind = node?.interrupt?.kind ?? 'custom';
  const how: { readonly [Kind in InterruptKind]?: string } = {
    approval: `weft approve ${run} ${nodeId}`,
    clarification: `weft answer ${run} ${nodeId} QUESTION=ANSWER`,
    'external-event': `weft resolve ${run} ${nodeId} --value @event.json`,
    'conversation.exchange': `weft resolve ${run} ${nodeId} --value '{"content":"…"}'`,
    'low-confidence': `weft resolve ${run} ${nodeId} --value '{"ratified":true}'`,
  };
  const command = how[kind] ?? `weft resolve ${run} ${nodeId} --value @answer.json`;
  return {
    waitingFor: 'interrupt',
    nodeId,
    sentence: `Node ${nodeId} waits for ${waitingFor(kind)?.waitsFor ?? 'an answer'}; give it with: ${command}`,
    ...(node?.dueAt !== undefined && { until: toIso(node.dueAt) }),
  };
}

function runningReason(row: RunRow, state: RunState, now: number, tasks: readonly WorkerTask[]): Reason {
  const open = [...state.nodes.values()];
  const child = open.find((node) => node.status === 'running' && node.child !== undefined);
  if (child?.child !== undefined) {
    return {
      waitingFor: 'child',
      nodeId: child.nodeId,
      childRunId: child.child.runId,
      sentence: `Node ${child.nodeId} waits for its child run ${child.child.runId} (workflow ${child.child.workflowId}).`,
    };
  }
  const effect = open.find((node) => node.status === 'running' && node.dueAt === undefined);
  const timer = open.filter((node) => node.dueAt !== undefined).sort(byDueTime)[0];
  const isLeft = row.holder === undefined && (timer?.dueAt === undefined || timer.dueAt <= now);
  if (isLeft && tasks.length === 0) {
    return { waitingFor: 'claim', sentence: 'No process holds the run; it waits for one to claim it.' };
  }
  if (effect !== undefined) return effectReason(effect, tasks[0]);
  if (timer?.dueAt === undefined) return { waitingFor: 'nothing', sentence: 'The run is being advanced.' };
  const until = toIso(timer.dueAt);
  if (timer.status === 'backoff') {
    const cause = timer.error === undefined ? '' : ` after ${timer.error.code}`;
    return {
      waitingFor: 'retry',
      nodeId: timer.nodeId,
      until,
      sentence: `Node ${timer.nodeId} is tried again at ${until}${cause}.`,
    };
  }
  return {
    waitingFor: 'timer',
    nodeId: timer.nodeId,
    until,
    sentence: `Node ${timer.nodeId} waits until ${until}.`,
  };
}

function effectReason(node: NodeState, task: WorkerTask | undefined): Reason {
  if (task !== undefined) return workerReason(task);
  const { nodeId, attempt } = node;
  const step = openStep(node);
  if (step !== undefined) return stepReason(nodeId, step);
  const sentence = `Node ${nodeId} is running (attempt ${attempt + 1}).`;
  return { waitingFor: 'effect', nodeId, sentence };
}

/** The oldest that has not ended. */
function openStep({ steps }: NodeState): StepState | undefined {
  return steps?.find(({ status }) => status === 'running' || status === 'backoff');
}

function stepReason(nodeId: string, { id, attempt, dueAt }: StepState): Reason {
  if (dueAt === undefined) {
    const sentence = `Node ${nodeId} is at step ${id} (attempt ${attempt + 1}).`;
    return { waitingFor: 'effect', nodeId, sentence };
  }
  const until = toIso(dueAt);
  const sentence = `Step ${id} of node ${nodeId} is tried again at ${until}.`;
  return { waitingFor: 'retry', nodeId, until, sentence };
}

function workerReason({ nodeId, task }: WorkerTask): Reason {
  const { typeId, version, since, worker, progress } = task;
  const type = `${typeId} ${version}`;
  if (worker === undefined) {
    const sentence = `Node ${nodeId} waits since ${since} for a worker that serves ${type}. Workers: weft workers ls; another version may serve it: weft nodes map ${typeId} ${version} VERSION`;
    return { waitingFor: 'worker', nodeId, task, sentence };
  }
  const details = progress?.details === undefined ? '' : `: ${JSON.stringify(progress.details)}`;
  const said = progress === undefined ? '' : ` It last reported progress at ${progress.at}${details}.`;
  return {
    waitingFor: 'effect',
    nodeId,
    task,
    sentence: `Node ${nodeId} (${type}) is performed by worker ${worker} since ${since}.${said}`,
  };
}

function byDueTime(a: NodeState, b: NodeState): number {
  return (a.dueAt ?? 0) - (b.dueAt ?? 0);
}
