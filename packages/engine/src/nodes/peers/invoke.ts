import { isJsonObject, type Json, type JsonObject, nameOf } from '@weft/protocol';
import { type Static, Type } from 'typebox';
import {
  type EffectContext,
  type EffectInput,
  NodeFailure,
  type NodeInput,
  type PerformedStep,
  type StepMove,
  type StepRecord,
  type StepRequest,
  type StepsNodeType,
} from '../../model/node-type.ts';
import { type PeerTask, unknownPeer } from '../../ports/peers.ts';
import { closedConfig } from '../config/config-schema.ts';
import { lastTask, openTask, taskOf } from './open-task.ts';
import { moveOf } from './task-state.ts';

const optional = Type.Optional;
const MAX_FOLLOW_MS = 24 * 60 * 60 * 1_000;
const DEFAULT_FOLLOW_MS = 10 * 60 * 1_000;

const INVOKE_CONFIG = closedConfig({
  skill: nameOf({ minLength: 1, maxLength: 256 }),
  peer: optional(nameOf({ minLength: 1, maxLength: 64 })),
  input: optional(Type.Unsafe<Json>({})),
  timeoutMs: optional(Type.Integer({ minimum: 1, maximum: MAX_FOLLOW_MS })),
  cardDigest: optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
});

type Config = Static<typeof INVOKE_CONFIG>;

const CARD = 'card';
const CANCEL = 'cancel';
const FOLLOW = 'follow-';
const QUESTION = 'question-';

/**
 * Has an agent of another host do a task.
 *
 *   card ──► send ──► follow ──► completed | failed
 *                    ▲   │
 *          reply ────┘   └──► question to a person ──► reply
 *
 * A failure in between tells the peer to cancel the task before the node fails; for a run that ends in the middle the outbox does so.
 *
 * G-1. A message is sent under the invocation id of its step. One whose outcome is not known is sent again only to a peer whose card
 *      says that it takes the same message once; a task that is known is asked for by its id, never begun again.
 * G-2. What is sent goes to the agent whose card was looked up; one with another card gets nothing.
 * G-3. What a peer says ends as outputs, as the text of a question or as an error: it answers no question and chooses no receiver.
 */
export const invokePeerNode: StepsNodeType = {
  kind: 'steps',
  typeId: 'core.a2a.invoke',
  title: 'A2A task',
  summary: 'Has an agent of another host do a task, and asks a person where the agent has a question.',
  config: INVOKE_CONFIG,
  outputPorts: ['output', 'artifacts', 'message', 'task'],
  dependsOn: () => ['input'],
  callsPeer: true,
  next(input, history) {
    const last = history.at(-1);
    if (last === undefined) return { steps: [lookUp(input)] };
    if (last.id === CANCEL) return failed(history.at(-2) ?? last);
    if (last.result === undefined) return failedStep(history, last);
    if (last.id === CARD) return { steps: [sending('send', history)] };
    const asked = history.filter(({ id }) => id.startsWith(QUESTION)).length;
    if (last.id.startsWith(QUESTION)) return { steps: [sending(`reply-${asked}`, history)] };
    const { peer = '', digest = '' } = history[0]?.result ?? {};
    const move = moveOf(taskOf(last.result), { peer: String(peer), cardDigest: String(digest) });
    if (move === 'follow') return { steps: [following(history)] };
    return 'ask' in move ? { ...move, step: `${QUESTION}${asked + 1}` } : move;
  },
  perform({ step, ...input }, context) {
    if (step.id === CARD) return look(input, context);
    if (step.id === CANCEL) return recorded(context.peers.cancel(refOf(step), context));
    return step.id.startsWith(FOLLOW) ? follow(input, step, context) : send(input, step, context);
  },
};

function lookUp({ config }: NodeInput): StepRequest {
  const { peer, skill } = config as Config;
  const request = { ...(peer !== undefined && { peer }), skill };
  return { id: CARD, request, onUnknownOutcome: 'repeat' };
}

/** The content is taken from the node's input, or from the answer: both are on record. */
function sending(id: string, history: readonly StepRecord[]): StepRequest {
  const { peer = '', digest = '', takesRepeats } = history[0]?.result ?? {};
  const { taskId } = lastTask(history) ?? {};
  return {
    id,
    request: { peer, cardDigest: digest, ...(taskId !== undefined && { taskId }) },
    onUnknownOutcome: takesRepeats === true ? 'repeat' : 'fail',
  };
}

function following(history: readonly StepRecord[]): StepRequest {
  const { peer = '', digest = '' } = history[0]?.result ?? {};
  const { taskId = '' } = lastTask(history) ?? {};
  const count = history.filter(({ id }) => id.startsWith(FOLLOW)).length;
  return {
    id: `${FOLLOW}${count + 1}`,
    request: { peer, taskId, cardDigest: digest },
    onUnknownOutcome: 'repeat',
  };
}

/** The peer would otherwise work for no one. */
function failedStep(history: readonly StepRecord[], step: StepRecord): StepMove {
  const task = openTask(history);
  if (task === undefined || step.error?.code === 'effect_outcome_unknown') return failed(step);
  const { peer, taskId } = task;
  return { steps: [{ id: CANCEL, request: { peer, taskId }, onUnknownOutcome: 'repeat' }] };
}

function failed({ error }: StepRecord): { readonly failure: NodeFailure } {
  const { code = 'node_failed', message = '', details } = error ?? {};
  return { failure: new NodeFailure(code, message, details === undefined ? {} : { details }) };
}

async function look({ config }: EffectInput, context: EffectContext): Promise<JsonObject> {
  const { peers } = context;
  const { peer = peers.names[0] ?? '', skill, cardDigest: wanted } = config as Config;
  if (!peers.names.includes(peer)) throw unknownPeer(peer, peers.names);
  const { agentName, protocolVersion, skills, takesRepeats } = await peers.card(peer, context);
  const found = skills.find(({ id }) => id === skill);
  if (found === undefined) {
    const list = skills.length === 0 ? 'it has none' : `it has ${skills.map(({ id }) => id).join(', ')}`;
    throw new NodeFailure(
      'peer_skill_unknown',
      `The card of "${peer}" names no skill "${skill}": ${list}.`.slice(0, 1_000),
      { details: { peer, skill } },
    );
  }
  const { digest } = found;
  if (wanted !== undefined && wanted !== digest) {
    throw new NodeFailure(
      'peer_changed',
      `The card of "${peer}" is not the one of config.cardDigest. Look at it, then put its digest there: ${digest}`,
      { details: { peer, digest } },
    );
  }
  return { peer, digest, agentName, protocolVersion, takesRepeats };
}

function send({ config, inputs }: EffectInput, step: PerformedStep, context: EffectContext) {
  const { skill } = config as Config;
  const last = step.history.at(-1);
  const isReply = last?.id.startsWith(QUESTION) === true;
  const { contextId } = lastTask(step.history) ?? {};
  const content = isReply ? replyOf(last.result) : (inputs['input'] ?? (config as Config).input ?? {});
  return recorded(context.peers.send({ ...refOf(step), skill, content, contextId }, context));
}

/** The one question is answered under the id that it was asked by. */
function replyOf(answer: JsonObject | undefined): Json {
  const answers = answer?.['answers'];
  return (isJsonObject(answers) ? answers['answer'] : undefined) ?? {};
}

function follow({ config }: EffectInput, step: PerformedStep, context: EffectContext): Promise<JsonObject> {
  const { timeoutMs = DEFAULT_FOLLOW_MS } = config as Config;
  return recorded(context.peers.follow(refOf(step), timeoutMs, context));
}

function refOf({ request }: PerformedStep) {
  const { peer, taskId, cardDigest } = request as {
    readonly peer: string;
    readonly taskId: string;
    readonly cardDigest: string;
  };
  return { peer, taskId, cardDigest };
}

async function recorded(task: Promise<PeerTask>): Promise<JsonObject> {
  const { taskId, contextId, state, message, artifacts } = await task;
  return {
    ...(taskId !== undefined && { taskId }),
    ...(contextId !== undefined && { contextId }),
    state,
    ...(message !== undefined && { message: [...message] }),
    ...(artifacts !== undefined && {
      artifacts: artifacts.map(({ name, parts }) => ({
        ...(name !== undefined && { name }),
        parts: [...parts],
      })),
    }),
  };
}
