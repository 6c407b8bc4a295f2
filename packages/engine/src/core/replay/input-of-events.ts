import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { toText } from '../fold/to-plain.ts';
import type { ChannelRequest, NodeEvent, Question } from '../../model/node-type.ts';
import type { ChannelCommand, ChildCommand, ResolveCommand } from '../../ports/store.ts';
import {
  type Fact,
  foldPayload,
  namedNode,
  type Payload,
  payloadData,
  type RunEvent,
} from '../../model/run-event.ts';
import type { Input } from '../decide/step.ts';
import type { Group } from './groups.ts';

/** From recorded facts back to the input that led to them. */

export function pauseOf(group: Group): Input {
  const paused = group.events.find((event) => event.type === 'run.paused');
  const payload = paused === undefined ? {} : foldPayload(paused);
  const isImmediate =
    payload.drainPolicy === 'immediate' || group.events.some(({ type }) => type === 'node.retried');
  return {
    type: 'command',
    command: {
      type: 'pause',
      policy: isImmediate ? 'immediate' : 'drain-current-node',
      ...textOf(payload, 'reason'),
    },
  };
}

export function cancelOf(event: Fact<'run.cancelled'>): Input {
  const payload = foldPayload(event);
  const { cancelledBy } = payload;
  return {
    type: 'command',
    command: {
      type: 'cancel',
      ...textOf(payload, 'reason'),
      ...textOf(payload, 'parentRunId'),
      ...(typeof cancelledBy === 'string' && { by: cancelledBy }),
    },
  };
}

/** The answer as it was given: whole where it decided the question, else what the vote or turn says of it. */
export function answerOf(group: Group): Input {
  const { first } = group;
  const resolved = group.events.find((event) => event.type === 'interrupt.resolved');
  const whole = resolved === undefined ? undefined : foldPayload(resolved);
  const isTimeout = first.type === 'approval.received' && foldPayload(first).action === 'timeout';
  if (isTimeout || whole?.reason === 'timeout') return { type: 'tick' };
  const { value, by } = partial(first, whole?.resolvedBy);
  return answer(first, whole?.resumeValue ?? value, by);
}

function partial(event: RunEvent, resolvedBy: string | undefined): { value: Json; by: Json | undefined } {
  if (event.type === 'conversation.exchanged') {
    const { turn } = foldPayload(event);
    return { value: { content: turn?.content ?? null }, by: resolvedBy ?? turn?.from };
  }
  const { nodeId: _node, iteration: _iteration, interruptId: _id, decidedBy, ...value } = payloadData(event);
  return { value, by: decidedBy ?? value['answeredBy'] ?? resolvedBy };
}

/** A recorded answer was accepted once: whoever gave it counts as the voter. */
export function answer(event: RunEvent, value: Json, by: Json | undefined): Input {
  const { nodeId, iteration } = namedNode(event.overlay ?? event.payload);
  const command: ResolveCommand = {
    type: 'resolve',
    nodeId: event.nodeId ?? toText(nodeId),
    ...(Array.isArray(iteration) && { iteration }),
    value,
    by: String(by ?? ''),
    byUser: true,
    viaLink: false,
  };
  return { type: 'command', command };
}

/** Variables, channel writes and events that an effect returned, from the facts they became. */
export function parts(events: readonly RunEvent[]): {
  variables?: JsonObject;
  channels?: ChannelRequest[];
  events?: NodeEvent[];
} {
  const variables: [string, Json][] = [];
  const channels: ChannelRequest[] = [];
  const others: RunEvent[] = [];
  for (const event of events) {
    if (event.type === 'variable.changed') variables.push(changeOf(event));
    else if (event.type === 'channel.written') channels.push(channelWrite(foldPayload(event)));
    else others.push(event);
  }
  const first = others[0]?.seq ?? 0;
  return {
    ...(variables.length > 0 && { variables: Object.fromEntries(variables) }),
    ...(channels.length > 0 && { channels }),
    ...(others.length > 0 && {
      events: others.map((event) => ({
        type: event.type,
        payload: payloadData(event),
        ...(event.causeSeq !== undefined && event.causeSeq >= first && { causedBy: event.causeSeq - first }),
      })),
    }),
  };
}

function changeOf(event: Fact<'variable.changed'>): [name: string, next: Json] {
  const { name, next = null } = foldPayload(event);
  return [toText(name), next];
}

function channelWrite({
  channel,
  value,
  reducer,
  ttlMs,
  maxSize,
}: Payload<'channel.written'>): ChannelRequest {
  return {
    channel: toText(channel),
    value: value ?? null,
    ...(typeof reducer === 'string' && { reducer }),
    ...(typeof ttlMs === 'number' && { ttlMs }),
    ...(typeof maxSize === 'number' && { maxSize }),
  };
}

/** What a child run wrote to this one, taken or refused; undefined where the run itself wrote, or said something. */
export function channelCommandOf(
  event: Fact<'channel.written' | 'log.appended'>,
): ChannelCommand | undefined {
  if (event.type === 'log.appended') {
    const { refused } = foldPayload(event);
    return isJsonObject(refused) ? refused : undefined;
  }
  const { channel, value, writer, sourceRunId, sourceEngineId, sensitive } = foldPayload(event);
  if (!isJsonObject(writer) || typeof sourceRunId !== 'string') return undefined;
  return {
    type: 'channel',
    channel,
    value: value ?? null,
    sourceRunId,
    sourceEngineId: toText(sourceEngineId),
    writer,
    // Whether or not the channel declares that it is not.
    ...(sensitive !== undefined && { sensitive: true }),
  };
}

export function questionOf({
  kind,
  data,
  resumeSchema,
  timeoutMs,
  authRequired,
}: Payload<'interrupt.requested'>): Question {
  return {
    kind,
    data,
    ...(isJsonObject(resumeSchema) && { resumeSchema }),
    ...(typeof timeoutMs === 'number' && { timeoutMs }),
    ...(authRequired === true && { authRequired }),
  };
}

export function variablesOf(
  group: Group,
  outputMapping: Record<string, string>,
): Pick<ChildCommand, 'variables' | 'sensitive'> {
  const variables: [string, Json][] = [];
  const sensitive: string[] = [];
  for (const event of group.events) {
    if (event.type !== 'variable.changed') continue;
    const [name, next] = changeOf(event);
    const source = outputMapping[name];
    if (source === undefined) continue;
    variables.push([source, next]);
    if (foldPayload(event).sensitive !== undefined) sensitive.push(source);
  }
  return {
    ...(variables.length > 0 && { variables: Object.fromEntries(variables) }),
    ...(sensitive.length > 0 && { sensitive }),
  };
}

export function errorOf({ code, message }: JsonObject): { code: string; message: string } {
  return { code: String(code), message: String(message) };
}

export function textOf<Name extends string>(
  payload: { readonly [Key in Name]?: unknown },
  name: Name,
): { [Key in Name]?: string } {
  const value = payload[name];
  return typeof value === 'string' ? ({ [name]: value } as { [Key in Name]?: string }) : {};
}
