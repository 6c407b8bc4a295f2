import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { V1PushNotificationSerializer } from '@a2a-js/sdk/server';
import type { TaskPushFormat } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { taskOfRun } from './run-task.ts';

/** A notification is the whole task, in the form of the version in which it was asked for. */
export const renderPush: TaskPushFormat['render'] = ({ snapshot, outputs }, version) => {
  const serializer =
    version === '0.3' ? new V03PushNotificationSerializer() : new V1PushNotificationSerializer();
  const task = taskOfRun(JSON.parse(JSON.stringify(snapshot)) as JsonObject, outputs);
  return Promise.resolve(serializer.serialize({ payload: { $case: 'task', value: task } }, task));
};
