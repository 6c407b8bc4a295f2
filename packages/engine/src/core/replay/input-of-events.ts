import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { budgetBreachOf } from '../decide/budget-end.ts';
import { isNodeCap } from '../fold/node-caps.ts';
import type { Cause } from '../fold/overlay.ts';
import { toNumber, toText } from '../fold/to-plain.ts';
import type { ChannelRequest, NodeEvent, Question } from '../../model/node-type.ts';
import type { ChannelCommand, ChildCommand, Command, ResolveCommand } from '../../ports/store.ts';
import {
  type EventType,
  type Fact,
  foldPayload,
  namedNode,
  type Payload,
  payloadData,
  type RunEvent,
} from '../../model/run-event.ts';
import { effectKey, type EffectKey, nodeKey, type NodeKey } from '../../model/run-state.ts';
import type { Input, NumberedChunk, Outcome } from '../decide/step.ts';

/** From the facts of a unit back to the input that caused it: what they do not say of it has decided nothing. */

/** What a unit must be read with. */
export interface RecordedNode {
  attempt: number;
  chunks: number;
  childRunId: string;
  outputMapping: Record<string, string>;
}

export function inputOf(
  { type, commandsWait }: Cause,
  facts: readonly RunEvent[],
  nodeOf: (key: EffectKey) => RecordedNode,
): Input {
  const own = ownFacts(facts);
  const last = own.at(-1);
  // Other hosts may record facts of an effect while it runs: without an end there is no outcome yet.
  if (last === undefined || (type === 'outcome' && !isEnd(last))) return { type: 'continue', commandsWait };
  const key = keyOf(last);
  const node = nodeOf(key);
  switch (type) {
    case 'start':
    case 'recovered':
    case 'forked':
      return { type };
    case 'continue':
      return { type, commandsWait };
    case 'outcome': {
      const effect = effectOf(last);
      return { type, key: effect, attempt: nodeOf(effect).attempt, outcome: outcomeOf(own, last) };
    }
    case 'progress': {
      const effect = effectOf(own[0] ?? last);
      const said = nodeOf(effect);
      return { type, key: effect, attempt: said.attempt, chunks: chunksOf(own, said), ...eventsSaid(own) };
    }
    case 'child-created':
      return { type, key, childRunId: node.childRunId, ...errorIn(last) };
    case 'child':
      return { type: 'command', command: childOf(own, last, key, node), commandsWait };
    default: {
      const command = commandOf(type, facts, own);
      return command === undefined
        ? { type: 'continue', commandsWait }
        : { type: 'command', command, commandsWait };
    }
  }
}

function effectOf(event: RunEvent): EffectKey {
  const step = stepIn(event);
  return step === undefined ? keyOf(event) : effectKey(keyOf(event), step);
}

/** Facts that an effect may tell before its end. */
const SAID: ReadonlySet<string> = new Set<EventType>(['agent.reasoning.delta', 'provider.usage']);

function eventsSaid(own: readonly RunEvent[]): { events?: readonly NodeEvent[] } {
  const events = own
    .filter(({ type }) => SAID.has(type))
    .map((event) => ({ type: event.type, payload: withoutPlace(payloadData(event)) }));
  return events.length > 0 ? { events } : {};
}

function withoutPlace({ step: _step, iteration: _iteration, ...payload }: JsonObject): JsonObject {
  return payload;
}

/** An execution of a node ends, or waits, with one of these. */
const ENDS: ReadonlySet<string> = new Set<EventType>([
  'node.completed',
  'node.failed',
  'node.retried',
  'node.dispatched',
  'interrupt.requested',
  'cap.breached',
  'weft.step.completed',
  'weft.step.failed',
  'weft.step.retried',
]);

function isEnd(event: RunEvent): boolean {
  return ENDS.has(event.type) && !isBreachOfNode(event);
}

/** On record next to the failure of the attempt, which follows. */
function isBreachOfNode(event: RunEvent): boolean {
  return event.type === 'cap.breached' && isNodeCap(foldPayload(event).kind);
}

/** What an input has led to itself is about one node and stands first; all else follows from that. */
function ownFacts(facts: readonly RunEvent[]): RunEvent[] {
  const own: RunEvent[] = [];
  for (const fact of facts) {
    if (fact.nodeId !== facts[0]?.nodeId) break;
    own.push(fact);
    if (isEnd(fact)) break;
  }
  return own;
}

export function keyOf(event: RunEvent): NodeKey {
  const { nodeId = '', iteration } = namedNode(event.overlay ?? event.payload);
  return nodeKey(event.nodeId ?? nodeId, Array.isArray(iteration) ? iteration : []);
}

/** Of a fact about a step: which one. */
export function stepIn(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'weft.step.started':
    case 'weft.step.completed':
    case 'weft.step.failed':
    case 'weft.step.retried':
    case 'output.chunk':
    case 'provider.usage':
    case 'agent.reasoning.delta':
    case 'cap.breached':
      return foldPayload(event).step;
    default:
      return undefined;
  }
}

function outcomeOf(own: readonly RunEvent[], last: RunEvent): Outcome {
  switch (last.type) {
    case 'weft.step.completed':
      return { ok: true, outputs: foldPayload(last).result, ...eventsBefore(own) };
    case 'weft.step.failed':
      return { ok: false, error: foldPayload(last).error, ...eventsBefore(own) };
    case 'weft.step.retried': {
      const { lastError, delayMs } = foldPayload(last);
      return {
        ok: false,
        error: lastError ?? NO_ERROR,
        delayMs: toNumber(delayMs),
        ...eventsBefore(own),
      };
    }
    case 'node.failed':
      return { ok: false, error: foldPayload(last).error, ...eventsBefore(own) };
    case 'node.retried': {
      const { lastError, delayMs } = foldPayload(last);
      return {
        ok: false,
        error: lastError ?? NO_ERROR,
        delayMs: toNumber(delayMs ?? 0),
        ...eventsBefore(own),
      };
    }
    case 'interrupt.requested': {
      const asked = own.findIndex(({ type }) => type === 'node.suspended');
      return { ok: true, outputs: {}, ...parts(own.slice(0, asked)), ask: questionOf(foldPayload(last)) };
    }
    case 'node.completed':
      return { ok: true, outputs: foldPayload(last).outputs ?? {}, ...parts(own.slice(0, -1)) };
    // What the cap did not let happen is on record by the cap alone.
    default: {
      const breach = last.type === 'cap.breached' ? breachOf(own, foldPayload(last)) : undefined;
      if (breach !== undefined) return { ok: false, error: NO_ERROR, breach, ...eventsBefore(own) };
      const isQuestion = last.type === 'cap.breached' && foldPayload(last).kind === 'clarification';
      const before = parts(own.slice(0, -1));
      const wanted = isQuestion ? { ask: QUESTION } : { events: [...(before.events ?? []), DECISION] };
      return { ok: true, outputs: {}, ...before, ...wanted };
    }
  }
}

/** A call that was not made, for want of a budget. */
function breachOf(own: readonly RunEvent[], cap: Payload<'cap.breached'>): ReturnType<typeof budgetBreachOf> {
  const exhausted = own.find((event) => event.type === 'budget.exhausted');
  return budgetBreachOf(cap, exhausted === undefined ? 0 : toNumber(foldPayload(exhausted).consumed));
}

/** What a failed attempt has logged and used, and the cap that it breached. */
function eventsBefore(own: readonly RunEvent[]): { events?: readonly NodeEvent[] } {
  const { events } = parts(
    own
      .slice(0, -1)
      .filter(
        (event) => event.type === 'log.appended' || event.type === 'provider.usage' || isBreachOfNode(event),
      ),
  );
  return events === undefined ? {} : { events };
}

/** Follow from what was used. */
const SPENDING: ReadonlySet<string> = new Set<EventType>([
  'budget.consumed',
  'budget.threshold.crossed',
  'budget.exhausted',
]);

const QUESTION: Question = { kind: 'clarification', data: {} };
const DECISION: NodeEvent = { type: 'runOrchestrator.decided', payload: {} };

const NO_ERROR = { code: 'internal', message: 'The log does not say why.', retryable: true };

/** Variables, channel writes and events that an effect returned, from the facts they became. */
function parts(events: readonly RunEvent[]): {
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
    else if (SPENDING.has(event.type)) continue;
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

function questionOf({
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

function chunksOf(own: readonly RunEvent[], node: RecordedNode): NumberedChunk[] {
  return own.flatMap((event) => {
    if (event.type !== 'output.chunk') return [];
    const { chunk, isLast, meta } = foldPayload(event);
    const index = node.chunks;
    node.chunks += 1;
    return [{ index, chunk: toText(chunk), isLast, ...(isJsonObject(meta) && { meta }) }];
  });
}

function errorIn(event: RunEvent): Pick<Extract<Input, { type: 'child-created' }>, 'error'> {
  const isFailure = event.type === 'node.failed' || event.type === 'weft.step.failed';
  return isFailure ? { error: foldPayload(event).error } : {};
}

function childOf(
  own: readonly RunEvent[],
  last: RunEvent,
  key: NodeKey,
  { childRunId, outputMapping }: RecordedNode,
): ChildCommand {
  const base = { type: 'child', nodeKey: key, childRunId } as const;
  switch (last.type) {
    case 'node.suspended':
      return { ...base, status: foldPayload(last).childStatus ?? 'running' };
    case 'node.resumed':
      return { ...base, status: 'running' };
    case 'node.failed': {
      const { childStatus, childError } = foldPayload(last).error.details ?? {};
      return { ...base, ...endOf(childStatus, childError) };
    }
    case 'weft.step.completed': {
      const { childStatus, output, childError } = foldPayload(last).result;
      return { ...base, ...endOf(childStatus, childError), ...(isJsonObject(output) && { outputs: output }) };
    }
    case 'node.completed': {
      const { childStatus, output, childError } = foldPayload(last).outputs ?? {};
      const outputs = isJsonObject(output) && { outputs: output };
      return { ...base, ...endOf(childStatus, childError), ...outputs, ...variablesOf(own, outputMapping) };
    }
    default:
      return { ...base, status: 'completed', ...variablesOf(own, outputMapping) };
  }
}

function endOf(status: Json = 'completed', error?: Json): Pick<ChildCommand, 'status' | 'error'> {
  return {
    status: String(status) as ChildCommand['status'],
    ...(isJsonObject(error) && { error: { code: String(error['code']), message: String(error['message']) } }),
  };
}

function variablesOf(
  own: readonly RunEvent[],
  outputMapping: Record<string, string>,
): Pick<ChildCommand, 'variables' | 'sensitive'> {
  const variables: [string, Json][] = [];
  const sensitive: string[] = [];
  for (const event of own) {
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

function commandOf(
  type: Exclude<Command['type'], 'child'>,
  facts: readonly RunEvent[],
  own: readonly RunEvent[],
): Command | undefined {
  switch (type) {
    case 'cancel': {
      const cancelled = facts.find((fact) => fact.type === 'run.cancelled');
      const { cancelledBy: by, ...said } = cancelled === undefined ? {} : foldPayload(cancelled);
      return {
        type,
        ...textOf(said, 'reason'),
        ...textOf(said, 'parentRunId'),
        ...(typeof by === 'string' && { by }),
      };
    }
    case 'pause': {
      const paused = facts.find((fact) => fact.type === 'run.paused');
      const { drainPolicy, ...said } = paused === undefined ? {} : foldPayload(paused);
      // A drain may have to wait with its own fact for what is in flight; an immediate pause never does.
      const policy = drainPolicy === 'immediate' ? drainPolicy : 'drain-current-node';
      return { type, policy, ...textOf(said, 'reason') };
    }
    case 'resume': {
      const resumed = facts.find((fact) => fact.type === 'run.resumed');
      return { type, ...(resumed !== undefined && textOf(foldPayload(resumed), 'reason')) };
    }
    case 'resolve':
      return answerOf(own);
    case 'channel':
      return channelCommandOf(own[0]);
  }
}

/** The answer as it was given: whole where it decided the question, else what the vote or turn says of it. */
function answerOf(own: readonly RunEvent[]): ResolveCommand | undefined {
  const [first] = own;
  if (first === undefined) return undefined;
  const resolved = own.find((fact) => fact.type === 'interrupt.resolved');
  // The time of the question was up right after the vote.
  const isByAnswer = resolved !== undefined && foldPayload(resolved).reason !== 'timeout';
  const { resumeValue, resolvedBy } = isByAnswer ? foldPayload(resolved) : {};
  const { value, by } = said(first);
  const { nodeId, iteration } = namedNode(first.overlay ?? first.payload);
  return {
    type: 'resolve',
    nodeId: first.nodeId ?? toText(nodeId),
    ...(Array.isArray(iteration) && { iteration }),
    value: resumeValue ?? value,
    // It was accepted once: its author counts as the voter.
    by: String(by ?? resolvedBy ?? ''),
    byUser: true,
    viaLink: false,
  };
}

function said(event: RunEvent): { value: Json; by: Json | undefined } {
  if (event.type === 'weft.approval.asked') {
    const { value, askedBy } = foldPayload(event);
    return { value, by: askedBy };
  }
  if (event.type === 'conversation.exchanged') {
    const { turn } = foldPayload(event);
    return { value: { content: turn?.content ?? null }, by: turn?.from };
  }
  const { nodeId: _node, iteration: _iteration, interruptId: _id, decidedBy, ...value } = payloadData(event);
  return { value, by: decidedBy ?? value['answeredBy'] };
}

/** What a child run wrote to this one, taken or refused. */
function channelCommandOf(event: RunEvent | undefined): ChannelCommand | undefined {
  if (event?.type === 'log.appended') return foldPayload(event).refused;
  if (event?.type !== 'channel.written') return undefined;
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

function textOf<Name extends string>(
  payload: { readonly [Key in Name]?: unknown },
  name: Name,
): { [Key in Name]?: string } {
  const value = payload[name];
  return typeof value === 'string' ? ({ [name]: value } as { [Key in Name]?: string }) : {};
}
