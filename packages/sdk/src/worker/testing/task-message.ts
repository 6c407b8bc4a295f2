import type { TaskMessage } from '../task.ts';

export function taskMessage(taskId: string, inputs: TaskMessage['inputs'], lease = 1): TaskMessage {
  return {
    type: 'task',
    taskId,
    lease,
    typeId: 'acme.work',
    version: '1.0.0',
    runId: 'r',
    workflowId: 'w',
    nodeId: 'n',
    invocationId: `inv-${taskId}`,
    attempt: 1,
    config: {},
    inputs,
  };
}
