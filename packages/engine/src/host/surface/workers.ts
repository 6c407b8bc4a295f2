import type {
  RegisteredWorker,
  RegisterWorkerRequest,
  TaskReceipt,
  TaskReport,
  WorkerDocument,
} from '@weft/protocol';
import type { TaskSink } from '../../runtime/workers/worker-session.ts';
import type { TaskStream } from '../../runtime/workers/worker-hub.ts';
import type { Caller } from './caller.ts';

export type { TaskSink, TaskStream };

/** Those who perform what users have written. A session belongs to the process that it was opened with. */
export interface Workers {
  /**
   * Opens a session. `isPrivate`: no one on the way can read what is sent. Throws `insecure_transport`, `node_type_conflict`,
   * `validation_error` and `rate_limited`.
   */
  register(caller: Caller, request: RegisterWorkerRequest, isPrivate: boolean): Promise<RegisteredWorker>;
  /** Undefined when the tenant has no such worker here. A second stream takes the place of the first. */
  stream(caller: Caller, workerId: string, sink: TaskSink): Promise<TaskStream | undefined>;
  /** Resolves when what it says is durable; undefined as above. */
  report(caller: Caller, workerId: string, report: TaskReport): Promise<TaskReceipt | undefined>;
  /** False when it does not exist. */
  close(caller: Caller, workerId: string): Promise<boolean>;
  /** On every process. */
  list(caller: Caller): Promise<readonly WorkerDocument[]>;
}
