import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { ChannelRequest, NodeEvent, Question } from '../../model/node-type.ts';
import type { ChannelCommand, ChildCommand, ResolveCommand } from '../../ports/store.ts';
import type { Reducer } from '../channels/reducers.ts';
import { foldPayload, type RunEvent } from '../../model/run-event.ts';
import type { Input } from '../decide/step.ts';
import type { Group } from './groups.ts';

/** From recorded facts back to the input that led to them. */

export function pauseOf(group: Group): Input {
  const paused = group.events.find(({ type }) => type === 'run.paused');
  const payload = paused === undefined ? {} : foldPayload(paused);
  const isImmediate =
    payload['drainPolicy'] === 'immediate' || group.events.some(({ type }) => type === 'node.retried');
  return {
    type: 'command',
    command: {
      type: 'pause',
      policy: isImmediate ? 'immediate' : 'drain-current-node',
      ...textOf(payload, 'reason'),
    },
  };
}

export function cancelOf(event: RunEvent): Input {
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
  const said = foldPayload(first);
  const resolved = group.events.find(({ type }) => type === 'interrupt.resolved');
  const whole = resolved === undefined ? undefined : foldPayload(resolved);
  if (said['action'] === 'timeout' || whole?.['reason'] === 'timeout') return { type: 'tick' };
  const by = said['decidedBy'] ?? said['answeredBy'] ?? whole?.['resolvedBy'] ?? speakerOf(said);
  return answer(first, said, whole?.['resumeValue'] ?? partial(first.type, said), by);
}

function partial(type: string, said: JsonObject): Json {
  if (type === 'conversation.exchanged') {
    return { content: isJsonObject(said['turn']) ? (said['turn']['content'] ?? null) : null };
  }
  const { nodeId: _node, iteration: _iteration, interruptId: _id, decidedBy: _by, ...value } = said;
  return value;
}

function speakerOf({ turn }: JsonObject): Json | undefined {
  return isJsonObject(turn) ? turn['from'] : undefined;
}

/** A recorded answer was accepted once: whoever gave it counts as the voter. */
export function answer(event: RunEvent, payload: JsonObject, value: Json, by: Json | undefined): Input {
  const iteration = payload['iteration'];
  const command: ResolveCommand = {
    type: 'resolve',
    nodeId: event.nodeId ?? String(payload['nodeId']),
    ...(Array.isArray(iteration) && { iteration: iteration as number[] }),
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
    const payload = foldPayload(event);
    if (event.type === 'variable.changed') variables.push([String(payload['name']), payload['next'] ?? null]);
    else if (event.type === 'channel.written') channels.push(channelWrite(payload));
    else others.push(event);
  }
  const first = others[0]?.seq ?? 0;
  return {
    ...(variables.length > 0 && { variables: Object.fromEntries(variables) }),
    ...(channels.length > 0 && { channels }),
    ...(others.length > 0 && {
      events: others.map((event) => ({
        type: event.type,
        payload: foldPayload(event),
        ...(event.causeSeq !== undefined && event.causeSeq >= first && { causedBy: event.causeSeq - first }),
      })),
    }),
  };
}

function channelWrite({ channel, value, reducer, ttlMs, maxSize }: JsonObject): ChannelRequest {
  return {
    channel: String(channel),
    value: value ?? null,
    ...(typeof reducer === 'string' && { reducer: reducer as Reducer }),
    ...(typeof ttlMs === 'number' && { ttlMs }),
    ...(typeof maxSize === 'number' && { maxSize }),
  };
}

/** What a child run wrote to this one, taken or refused; undefined where the run itself wrote, or said something. */
export function channelCommandOf(payload: JsonObject): ChannelCommand | undefined {
  const { refused, writer, sourceRunId, sourceEngineId } = payload;
  if (isJsonObject(refused)) return refused as unknown as ChannelCommand;
  if (!isJsonObject(writer) || typeof sourceRunId !== 'string') return undefined;
  return {
    type: 'channel',
    channel: String(payload['channel']),
    value: payload['value'] ?? null,
    sourceRunId,
    sourceEngineId: String(sourceEngineId),
    writer: { nodeId: String(writer['nodeId']), typeId: String(writer['typeId']) },
    // Whether or not the channel declares that it is not.
    ...(payload['sensitive'] !== undefined && { sensitive: true }),
  };
}

export function questionOf({ kind, data, resumeSchema, timeoutMs, authRequired }: JsonObject): Question {
  return {
    kind: kind as Question['kind'],
    data: data as JsonObject,
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
    const payload = foldPayload(event);
    const source = event.type === 'variable.changed' ? outputMapping[String(payload['name'])] : undefined;
    if (source === undefined) continue;
    variables.push([source, payload['next'] ?? null]);
    if ((payload['sensitive'] ?? payload['isInheritedSecret']) !== undefined) sensitive.push(source);
  }
  return {
    ...(variables.length > 0 && { variables: Object.fromEntries(variables) }),
    ...(sensitive.length > 0 && { sensitive }),
  };
}

export function errorOf({ code, message }: JsonObject): { code: string; message: string } {
  return { code: String(code), message: String(message) };
}

export function textOf<Name extends string>(payload: JsonObject, name: Name): { [Key in Name]?: string } {
  const value = payload[name];
  return typeof value === 'string' ? ({ [name]: value } as { [Key in Name]?: string }) : {};
}
