import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { NewTaskPush, TaskPush, TaskPushes } from '@weft/engine';
import type { A2aSession } from './session.ts';
import type { Tasks } from './tasks.ts';

type Requests = Pick<
  A2ARequestHandler,
  | 'createTaskPushNotificationConfig'
  | 'getTaskPushNotificationConfig'
  | 'listTaskPushNotificationConfigs'
  | 'deleteTaskPushNotificationConfig'
>;

export interface PushConfigs extends Requests {
  /** What comes with a message: checked before the message is taken, and set once its task is there. */
  check(config: TaskPushNotificationConfig, context: ServerCallContext): Promise<void>;
  set(
    taskId: string,
    config: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig>;
}

/** Receivers of push notifications about a task. What authenticates the host to a receiver is never shown again. */
export function createPushConfigs(session: A2aSession, tasks: Tasks): PushConfigs {
  function offered(): TaskPushes {
    const { taskPushes } = session.host;
    if (taskPushes === undefined) throw new PushNotificationNotSupportedError('This agent pushes nothing.');
    return taskPushes;
  }

  async function set(
    taskId: string,
    config: TaskPushNotificationConfig,
    { requestedVersion }: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    const pushes = offered();
    const caller = await session.admit('createRun');
    await tasks.read(taskId);
    const push = await pushes.set(caller, taskId, newPush(config, requestedVersion));
    if (push === undefined) throw new TaskNotFoundError('There is no task with this id.');
    return configOf(taskId, push);
  }

  async function list(taskId: string): Promise<TaskPushNotificationConfig[]> {
    const pushes = offered();
    const caller = await session.admit('getRun');
    await tasks.read(taskId);
    return ((await pushes.list(caller, taskId)) ?? []).map((push) => configOf(taskId, push));
  }

  return {
    set,
    async check(config, { requestedVersion }) {
      offered().check(await session.admit('createRun'), newPush(config, requestedVersion));
    },
    createTaskPushNotificationConfig: (config, context) => set(config.taskId, config, context),
    async getTaskPushNotificationConfig({ taskId, id }) {
      const found = (await list(taskId)).find((config) => config.id === idOf(taskId, id));
      if (found === undefined) throw noConfig();
      return found;
    },
    async listTaskPushNotificationConfigs({ taskId }) {
      return { configs: await list(taskId), nextPageToken: '' };
    },
    async deleteTaskPushNotificationConfig({ taskId, id }) {
      const pushes = offered();
      const caller = await session.admit('createRun');
      await tasks.read(taskId);
      if (!(await pushes.remove(caller, taskId, idOf(taskId, id)))) throw noConfig();
    },
  };
}

/** A client of 0.3 may name none: it means the one that was set without a name. */
function idOf(taskId: string, id: string): string {
  return id === '' ? taskId : id;
}

function newPush({ id, url, token, authentication }: TaskPushNotificationConfig, version = ''): NewTaskPush {
  return { pushId: id, url, token, authorization: authentication, version };
}

function configOf(taskId: string, { pushId, url, scheme }: TaskPush): TaskPushNotificationConfig {
  const authentication = scheme === undefined ? undefined : { scheme, credentials: '' };
  return { tenant: '', id: pushId, taskId, url, token: '', authentication };
}

function noConfig(): RequestMalformedError {
  return new RequestMalformedError('The task has no push notification configuration with this id.');
}
