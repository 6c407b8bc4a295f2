import { type Message, TaskState } from '@a2a-js/sdk';
import { RequestMalformedError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { type Caller, MAX_HOPS } from '@weft/engine';
import { isName, type JsonObject } from '@weft/protocol';
import { exposedSkill, exposedWorkflows } from '../protocols/exposed-workflows.ts';
import { questionOf } from '../protocols/question.ts';
import { answerOf, contentOf, inputsOf } from './message-content.ts';
import { isTerminal } from './run-task.ts';
import type { A2aSession } from './session.ts';
import { taskState, type Tasks } from './tasks.ts';

/** Takes a message, which begins a run or answers the question of one; the run's id. */
export type TakeMessage = (message: Message | undefined, metadata: JsonObject) => Promise<string>;

const MAX_ID = 128;

export function createTakeMessage(session: A2aSession, tasks: Tasks): TakeMessage {
  const { host } = session;

  /** A message that was taken before is not taken again; the task it began or continued is the answer. */
  async function take(message: Message | undefined, metadata: JsonObject): Promise<string> {
    if (message === undefined) throw new RequestMalformedError('message: missing');
    const { messageId, taskId } = message;
    if (!isName(messageId) || messageId === '' || messageId.length > MAX_ID)
      throw new RequestMalformedError(`message.messageId: must be a name of at most ${MAX_ID} characters`);
    const content = contentOf(message);
    const caller = await session.admit('listWorkflows');
    const asked = { ...content, data: content.data ?? null, taskId };
    const taken = await session.once(caller, `a2a:${messageId}`, asked, async () =>
      taskId === '' ? await begin(caller, message, metadata) : await reply(message),
    );
    return String(taken);
  }

  async function begin(caller: Caller, message: Message, metadata: JsonObject): Promise<string> {
    const { messageId, contextId } = message;
    checkContextId('message.contextId', contextId);
    const about = { ...metadata, ...message.metadata };
    const hops = hopsOf(about);
    const skill = await skillOf(caller, about);
    const created = await session.perform('createRun', {
      idempotencyKey: `a2a:${messageId}`,
      body: {
        workflowId: skill.workflowId,
        inputs: inputsOf(skill, contentOf(message)),
        tags: ['a2a', `a2a:${messageId}`, ...(contextId === '' ? [] : [`a2a:${contextId}`])],
        metadata: {
          startedBy: 'a2a',
          ...(contextId !== '' && { a2aContextId: contextId }),
          ...(hops !== undefined && { a2aHops: hops }),
        },
      },
    });
    return String(created['runId']);
  }

  async function reply(message: Message): Promise<string> {
    const { taskId } = message;
    const task = await tasks.read(taskId);
    const state = taskState(task);
    if (message.contextId !== '' && message.contextId !== task.contextId)
      throw new RequestMalformedError('message.contextId: the task belongs to another one');
    if (isTerminal(state)) throw new UnsupportedOperationError('The task has ended; begin another one.');
    const question = questionOf(await session.perform('getRun', { params: { runId: taskId } }));
    if (state !== TaskState.TASK_STATE_INPUT_REQUIRED || question === undefined)
      throw new UnsupportedOperationError('The task waits for no message; ask for it again later.');
    await session.perform('resolveInterruptByRun', {
      params: { runId: taskId, nodeId: question.nodeId },
      body: { resumeValue: answerOf(question, contentOf(message)) },
    });
    return taskId;
  }

  async function skillOf(caller: Caller, { skillId }: JsonObject) {
    if (typeof skillId === 'string') {
      const skill = await exposedSkill(host, caller, skillId);
      if (skill !== undefined) return skill;
    }
    const skills = await exposedWorkflows(host, caller, 'a2a');
    const [only] = skills;
    if (skillId === undefined && skills.length === 1 && only !== undefined) return only;
    const names = skills.map(({ workflowId }) => workflowId).join(', ');
    throw new RequestMalformedError(
      `message.metadata.skillId: must name a skill of the card; there ${names === '' ? 'are none' : `are ${names}`}`,
    );
  }

  return take;
}

/** Empty where none is meant. */
export function checkContextId(field: string, contextId: string): void {
  if (contextId !== '' && (!isName(contextId) || contextId.length > MAX_ID))
    throw new RequestMalformedError(`${field}: must be a name of at most ${MAX_ID} characters`);
}

const HOPS = 'urn:weft:a2a:hops';

/** How many hosts the work has come through, where the client counts them: agents that call each other in a circle would never end. */
function hopsOf({ [HOPS]: hops }: JsonObject): number | undefined {
  if (hops === undefined) return undefined;
  if (typeof hops !== 'number' || !Number.isInteger(hops) || hops < 0)
    throw new RequestMalformedError(`message.metadata.${HOPS}: must be a whole number from 0`);
  if (hops <= MAX_HOPS) return hops;
  throw new UnsupportedOperationError(
    `This work has come through ${MAX_HOPS} hosts already, which is the limit: do they call each other in a circle?`,
  );
}
