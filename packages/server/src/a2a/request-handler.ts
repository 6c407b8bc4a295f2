import type { SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotCancelableError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { isJsonObject, type JsonObject } from '@weft/protocol';
import { toA2aError } from './a2a-error.ts';
import { createPushConfigs } from './push-configs.ts';
import { isTerminal } from './run-task.ts';
import type { A2aSession } from './session.ts';
import { checkContextId, createTakeMessage } from './take-message.ts';
import { createTasks, taskState } from './tasks.ts';

/** A client gives up on a request after a minute; the task stays, and can be asked for. */
const LONGEST_WAIT_MS = 50_000;
const CANCEL_WAIT_MS = 5_000;
const MAX_LISTED = 50;

/** The requests of A2A, answered by runs: a task is a run under its own id. */
export function createRequestHandler(session: A2aSession): A2ARequestHandler {
  const { host, ended } = session;
  const tasks = createTasks(session);
  async function answered<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw toA2aError(error, session.log);
    }
  }

  async function* streamed(
    work: () => AsyncGenerator<StreamResponse>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      yield* work();
    } catch (error) {
      throw toA2aError(error, session.log);
    }
  }

  const takeMessage = createTakeMessage(session, tasks);
  const pushes = createPushConfigs(session, tasks);

  /** The receiver is checked before the task is begun. */
  async function take(request: SendMessageRequest, context: ServerCallContext): Promise<string> {
    const { message, configuration, metadata } = request;
    const push = configuration?.taskPushNotificationConfig;
    if (push !== undefined) await pushes.check(push, context);
    const runId = await takeMessage(message, metadataOf(metadata));
    if (push !== undefined) await pushes.set(runId, push, context);
    return runId;
  }

  async function cancel(runId: string): Promise<Task> {
    const task = await tasks.read(runId);
    if (isTerminal(taskState(task))) throw new TaskNotCancelableError('The task has ended.');
    await session.perform('cancelRun', {
      params: { runId },
      body: { reason: 'The client cancelled its task.' },
    });
    for await (const _ of tasks.follow(runId, CANCEL_WAIT_MS));
    return await tasks.read(runId);
  }

  return {
    getAgentCard: () => session.card(),
    getAuthenticatedExtendedAgentCard: () => session.card(),
    sendMessage: (request, context) =>
      answered(async () => {
        const runId = await take(request, context);
        if (request.configuration?.returnImmediately !== true)
          for await (const _ of tasks.follow(runId, LONGEST_WAIT_MS));
        return await tasks.read(runId);
      }),
    sendMessageStream: (request, context) =>
      streamed(async function* () {
        yield* tasks.follow(await take(request, context));
      }),
    resubscribe: ({ id }) =>
      streamed(async function* () {
        const task = await tasks.read(id);
        if (isTerminal(taskState(task)))
          throw new UnsupportedOperationError('The task has ended; ask for it.');
        yield* tasks.follow(id);
      }),
    getTask: ({ id }) => answered(() => tasks.read(id)),
    cancelTask: ({ id }) => answered(() => cancel(id)),
    listTasks: ({ contextId, pageSize = MAX_LISTED, pageToken }) =>
      answered(async () => {
        const caller = await session.admit('listRuns');
        if (!Number.isInteger(pageSize)) throw new RequestMalformedError('pageSize: must be a whole number');
        checkContextId('contextId', contextId);
        const limit = Math.max(1, Math.min(pageSize, MAX_LISTED));
        const tag = contextId === '' ? 'a2a' : `a2a:${contextId}`;
        const page = { limit, ...(pageToken !== '' && { cursor: pageToken }) };
        const { rows, nextCursor = '' } = await host.runs.list(caller, { tag }, page, ended);
        const listed = await Promise.all(rows.map(({ runId }) => tasks.read(runId)));
        return { tasks: listed, nextPageToken: nextCursor, pageSize: limit, totalSize: listed.length };
      }),
    createTaskPushNotificationConfig: (config, context) =>
      answered(() => pushes.createTaskPushNotificationConfig(config, context)),
    getTaskPushNotificationConfig: (request, context) =>
      answered(() => pushes.getTaskPushNotificationConfig(request, context)),
    listTaskPushNotificationConfigs: (request, context) =>
      answered(() => pushes.listTaskPushNotificationConfigs(request, context)),
    deleteTaskPushNotificationConfig: (request, context) =>
      answered(() => pushes.deleteTaskPushNotificationConfig(request, context)),
  };
}

function metadataOf(metadata: unknown): JsonObject {
  return isJsonObject(metadata) ? metadata : {};
}
