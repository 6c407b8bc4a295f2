import type { Json, RunSnapshot } from '@weft/protocol';

/** How a task is pushed to an agent of another host that has asked for it: `HostOptions.taskPushes`. */
export interface TaskPushFormat {
  /** `version` is that of the agents' protocol in which it was asked for. */
  render(task: ToldTask, version: string): Promise<TaskPushBody>;
}

/** A run as it stood right after one of its events. */
export interface ToldTask {
  readonly snapshot: RunSnapshot;
  /** Of a run that has completed. */
  readonly outputs?: Json | undefined;
}

export interface TaskPushBody {
  readonly contentType: string;
  readonly body: string;
}
