import { toIso } from '@weft/protocol';
import type { StoredTask } from '../../ports/store.ts';
import type { WorkerTask } from '../runs/explain.ts';
import type { OwnTaskView } from './own-tasks.ts';
import type { TaskNote } from './task-body.ts';

/** Where a task of a run that is held here stands; those that wait come first. */
export function explainTasks(tasks: readonly OwnTaskView[], node: string): readonly WorkerTask[] {
  return tasks
    .map((task) => explainTask(task, node))
    .sort((a, b) => Number(a.task.worker !== undefined) - Number(b.task.worker !== undefined));
}

function explainTask({ served, elsewhere }: OwnTaskView, node: string): WorkerTask {
  const { offer, holding, since } = served;
  const { typeId, version, message } = offer;
  const { nodeId } = message;
  const note = holding === undefined ? noteOf(elsewhere) : undefined;
  const holder = holding && {
    worker: holding.session.about.name,
    node,
    since: holding.since,
    progress: holding.progress,
  };
  const at = holder ?? note;
  if (at === undefined) return { nodeId, task: { typeId, version, since: toIso(since) } };
  return {
    nodeId,
    task: {
      typeId,
      version,
      since: toIso(at.since),
      worker: at.worker,
      node: at.node,
      ...(at.progress !== undefined && {
        progress: {
          at: toIso(at.progress.at),
          ...(at.progress.details !== undefined && { details: at.progress.details }),
        },
      }),
    },
  };
}

function noteOf(stored: StoredTask | undefined): TaskNote | undefined {
  return stored?.holder === undefined || stored.note === undefined
    ? undefined
    : (JSON.parse(stored.note) as TaskNote);
}
