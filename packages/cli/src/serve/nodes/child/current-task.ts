import { AsyncLocalStorage } from 'node:async_hooks';
import type { Around } from '@weft/sdk/worker';
import type { StuckTask } from '../process-messages.ts';

/** Which task the main thread is busy with: asked by the watchdog, through the inspector, when the thread does not answer. */

/** By this name the watchdog finds the function below in the thread that it has stopped. */
export const WHERE = 'weft.nodes.where';

export function followTasks(): Around {
  const current = new AsyncLocalStorage<StuckTask>();
  Object.defineProperty(globalThis, Symbol.for(WHERE), {
    value: function where(): string {
      const trace: { stack?: string } = {};
      Error.captureStackTrace(trace, where);
      return JSON.stringify({ task: current.getStore(), stack: trace.stack });
    },
  });
  return ({ taskId, lease, typeId, nodeId, runId }, perform) =>
    current.run({ taskId, lease, typeId, nodeId, runId }, perform);
}
