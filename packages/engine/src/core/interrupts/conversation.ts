import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { checkChannelWrite, writeChannel } from '../channels/channels.ts';
import type { Batch } from '../decide/live-run.ts';
import { toNodeError } from '../decide/node-error.ts';
import { identity } from '../decide/node-settle.ts';
import { isCostCode, type NodePlan } from '../compile/plan.ts';
import { shownMembers } from '../decide/recorder.ts';
import type { Payload } from '../../model/run-event.ts';
import { type InterruptState, nodeKey } from '../../model/run-state.ts';
import { memberOf, type Sensitivity } from '../redaction/sensitivity.ts';
import {
  type Answer,
  type AnswerProblem,
  type Asked,
  type Evaluation,
  type KindRules,
  type Means,
  type Opening,
  refused,
  schemaProblem,
  type Taken,
} from './kind-rules.ts';

/**
 * A conversation is one question that stays open over many turns:
 *
 *   opened (turn 0) ──► exchanged (turn 1, 2, …) ──► closed
 *
 * E-24. The node stays suspended until the conversation is closed: by a person, by its number of turns, or by silence.
 * E-25. Every turn is also a message of the conversation's channel, where the workflow declares one. A turn that the channel
 *       does not take is rejected; only the closing turn, which cannot be taken back, is then left out of the channel.
 */

export const CONVERSATION: KindRules = {
  evaluate,
  checkQuestion: checkOpening,
  reason: () => ({ reason: 'conversation-input' }),
  opened: openConversation,
  answerProblem: (asked, taken) => (taken.type === 'turn' ? turnProblem(asked, taken) : undefined),
  conclude: closeConversation,
  wholePort: 'outcome',
  concludeSilently: closeConversationSilently,
};

type Role = 'user' | 'agent' | 'system';

interface Turn {
  readonly conversationId: string;
  readonly turnIndex: number;
  readonly role: Role;
  readonly from: string;
  readonly content: Json;
  readonly ts: number;
}

type TurnDoc = Payload<'conversation.exchanged'>['turn'];

function openConversation(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  { data, sensitivity, suspendedSeq }: Opening,
): void {
  const turn = openingTurn(batch, node, data);
  const content = memberOf(sensitivity, 'prompt');
  const ofTurn = content === undefined ? undefined : { content };
  const { agent } = node.node;
  const opened: Payload<'conversation.opened'> = {
    ...identity(node, path),
    conversationId: String(data['conversationId']),
    initialTurn: turn,
    ...(agent !== undefined && { agentId: agent.agentId }),
    capabilities: ['multi-turn'],
  };
  batch.record({
    type: 'conversation.opened',
    nodeId: node.id,
    payload: opened,
    ...(ofTurn !== undefined && {
      shown: { ...opened, initialTurn: shownMembers(turn, ofTurn, batch.run.masking) },
    }),
    causeSeq: suspendedSeq,
  });
  keepTurn(batch, node, turn, ofTurn);
}

/** Throws when the channel does not take the opening turn. */
function checkOpening(batch: Batch, node: NodePlan, data: JsonObject): void {
  const channel = conversationChannel(node.config, batch.run.plan.channels);
  if (channel === undefined) return;
  checkChannelWrite(batch.run, node, { channel, value: openingTurn(batch, node, data) });
}

/** One turn, or the end, of a conversation. */
function evaluate({ data }: InterruptState, { value, by }: Answer, means: Means): Evaluation {
  const operation = value['operation'] ?? (value['close'] === true ? 'close' : 'exchange');
  if (operation === 'close') return { type: 'accepted', value, voter: by };
  if (operation !== 'exchange') {
    return refused('resumeValue.operation must be exchange or close.', 'resumeValue.operation', {
      allowed: ['exchange', 'close'],
    });
  }
  const content = turnContent(value);
  if (content === undefined) return refused('A turn needs resumeValue.content.', 'resumeValue.content');
  const schema = isJsonObject(data['outcomeSchema']) ? data['outcomeSchema'] : undefined;
  return (
    schemaProblem(schema, content, means, 'resumeValue.content') ?? {
      type: 'turn',
      value: { ...value, content },
      voter: by,
    }
  );
}

function turnContent(value: JsonObject): Json | undefined {
  if (value['content'] !== undefined) return value['content'];
  return isJsonObject(value['turn']) ? value['turn']['content'] : undefined;
}

/** Why a person's turn cannot be kept; undefined when it can. */
function turnProblem({ batch, node, interrupt }: Asked, { value, voter }: Taken): AnswerProblem | undefined {
  try {
    const channel = conversationChannel(node.config, batch.run.plan.channels);
    if (channel === undefined) return undefined;
    checkChannelWrite(batch.run, node, { channel, value: userTurn(batch, interrupt, value, voter) });
    return undefined;
  } catch (error) {
    const { code, message, details } = toNodeError(error);
    const field = { field: 'resumeValue.content' };
    if (isCostCode(code)) return { code, message, details: { ...details, ...field } };
    return { code: 'validation_error', message, details: field };
  }
}

function openingTurn(batch: Batch, node: NodePlan, data: JsonObject): TurnDoc {
  return turnOf({
    conversationId: String(data['conversationId']),
    turnIndex: 0,
    role: 'agent',
    from: speakerOf(node),
    content: data['prompt'] ?? '',
    ts: timeOf(batch),
  });
}

function userTurn(batch: Batch, interrupt: InterruptState, value: JsonObject, speaker: string): TurnDoc {
  return turnOf({
    conversationId: String(interrupt.data['conversationId']),
    turnIndex: (interrupt.turns ?? 0) + 1,
    role: 'user',
    from: speaker,
    content: value['content'] ?? null,
    ts: timeOf(batch),
  });
}

/** A person's turn. The last one of a conversation with a fixed number of turns closes it. */
export function noteTurn({ batch, node, path, interrupt }: Asked, { value, voter }: Taken): void {
  const conversationId = String(interrupt.data['conversationId']);
  const turnIndex = (interrupt.turns ?? 0) + 1;
  const turn = userTurn(batch, interrupt, value, voter);
  const ofTurn = turnSensitivity(node);
  const exchanged = { ...identity(node, path), conversationId, turnIndex };
  batch.record({
    type: 'conversation.exchanged',
    nodeId: node.id,
    payload: { ...exchanged, turn },
    ...(ofTurn !== undefined && {
      shown: { ...exchanged, turn: shownMembers(turn, ofTurn, batch.run.masking) },
    }),
  });
  keepTurn(batch, node, turn, ofTurn);
}

/** Of what people say, where the node declares what comes of it sensitive. */
function turnSensitivity({ sensitivePorts }: NodePlan): { readonly content: true } | undefined {
  return sensitivePorts.get('outcome') === true ? { content: true } : undefined;
}

/** True when this turn is the last that the node asks for. */
export function isLastTurn({ node, interrupt }: Asked): boolean {
  const wanted = node.config['turnCount'];
  return typeof wanted === 'number' && (interrupt.turns ?? 0) + 1 >= wanted;
}

/** By a person; or by the host after the last turn, which is then the outcome. Returns the node's outputs. */
function closeConversation(asked: Asked, { type, value, voter }: Taken): JsonObject {
  if (type === 'turn') {
    const reason = 'turn-count-reached';
    return close(asked, { role: 'system', from: 'system', content: reason, reason }, value['content']);
  }
  const reason = typeof value['reason'] === 'string' ? value['reason'] : 'closed';
  const content = value['content'] ?? reason;
  return close(asked, { role: 'user', from: voter, content, reason }, value['outcome']);
}

/** By the host, without an outcome, when no further turn came in time. */
function closeConversationSilently(asked: Asked): JsonObject {
  return close(asked, {
    role: 'system',
    from: 'system',
    content: 'No answer in time.',
    reason: 'timeout',
  });
}

function close(
  { batch, node, interrupt }: Asked,
  final: { role: Role; from: string; content: Json; reason: string },
  outcome: Json = null,
): JsonObject {
  const conversationId = String(interrupt.data['conversationId']);
  const turnIndex = (interrupt.turns ?? 0) + 1;
  const { reason, ...said } = final;
  const finalTurn = turnOf({ conversationId, turnIndex, ...said, ts: timeOf(batch) });
  const turnCount = turnIndex + 1;
  const ofTurn = final.role === 'user' ? turnSensitivity(node) : undefined;
  const closed = { nodeId: node.id, conversationId, turnIndex, finalTurn, outcome, reason, turnCount };
  batch.record({
    type: 'conversation.closed',
    nodeId: node.id,
    payload: closed,
    shown: shownMembers(closed, closedSensitivity(node, ofTurn), batch.run.masking),
  });
  keepTurn(batch, node, finalTurn, ofTurn);
  return { conversationId, turnCount, outcome, reason };
}

function closedSensitivity(
  node: NodePlan,
  finalTurn: { readonly content: true } | undefined,
): Sensitivity | undefined {
  if (turnSensitivity(node) === undefined) return undefined;
  return { outcome: true, ...(finalTurn !== undefined && { finalTurn }) };
}

export function turnOf({ conversationId, turnIndex, role, ...said }: Turn): TurnDoc {
  return {
    messageId: `${conversationId}:${turnIndex}:${role}`,
    ...said,
    role,
    turnIndex,
    ...(role === 'agent' && { speakerId: said.from }),
  };
}

/** The channel that turns go to: the one the node names, else one called `conversation`. */
export function conversationChannel(
  config: JsonObject,
  channels: ReadonlyMap<string, { readonly reducer: string }>,
): string | undefined {
  const name = typeof config['channel'] === 'string' ? config['channel'] : 'conversation';
  return channels.get(name)?.reducer === 'message' ? name : undefined;
}

/** What people say is searched for what the run must not show, and kept as sensitive where something is found. */
function keepTurn(batch: Batch, node: NodePlan, turn: JsonObject, sensitivity?: Sensitivity): void {
  const { run } = batch;
  const channel = conversationChannel(node.config, run.plan.channels);
  if (channel === undefined) return;
  const write = { channel, value: turn };
  try {
    checkChannelWrite(run, node, write);
  } catch {
    return;
  }
  writeChannel(batch, node, write, sensitivity ?? run.redactor.echoes(turn));
}

function speakerOf(node: NodePlan): string {
  return node.node.agent?.agentId ?? `host:${node.id}`;
}

function timeOf({ now, run }: Batch): number {
  return Math.max(now, run.state.lastAt);
}

export function conversationId(nodeId: string, path: readonly number[], visit: number): string {
  return visit === 0 ? nodeKey(nodeId, path) : `${nodeKey(nodeId, path)}#${visit}`;
}
