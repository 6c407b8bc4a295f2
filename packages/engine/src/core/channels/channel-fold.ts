import { isJsonObject } from '@weft/protocol';
import { toNumber, toText } from '../fold/to-plain.ts';
import { type ChannelWrite, isReducer, reduce } from './reducers.ts';
import type { Fact, Payload } from '../../model/run-event.ts';
import { nodeKey, type RunState } from '../../model/run-state.ts';
import { isSensitive, readSensitivity, type Sensitivity } from '../redaction/sensitivity.ts';

/** What the facts about channels and their triggers change. */

type Written = Payload<'channel.written'>;

export function channelWritten(state: RunState, event: Fact<'channel.written'>, payload: Written): void {
  const name = toText(payload.channel);
  const { reducer, ttlMs, maxSize } = payload;
  if (!isReducer(reducer)) return;
  const isUndeclared = payload.isUndeclared === true;
  const held = isUndeclared ? state.variables : state.channels;
  const write: ChannelWrite = {
    reducer,
    value: payload.value ?? null,
    at: event.at,
    ...(typeof ttlMs === 'number' && { ttlMs }),
    ...(typeof maxSize === 'number' && { maxSize }),
  };
  held.set(name, reduce(held.get(name), write));
  noteSensitivity(isUndeclared ? state.sensitiveVariables : state.sensitiveChannels, name, payload);
  if (!isUndeclared) noteVersion(state, event, name, payload);
  if (isJsonObject(payload.triggers)) noteDue(state, event, payload.triggers);
}

/** A channel that holds several writes is as sensitive as the most sensitive of them. */
function noteSensitivity(held: Map<string, Sensitivity>, name: string, payload: Written): void {
  const written = readSensitivity(payload.sensitive);
  if (payload.reducer === 'replace') {
    if (written === undefined) held.delete(name);
    else held.set(name, written);
  } else if (written !== undefined && !isSensitive(held.get(name)))
    held.set(name, isSensitive(written) ? 'within' : false);
}

/** Which versions of its schema a channel holds entries of, and the first event of each; a replaced value leaves nothing behind. */
function noteVersion(state: RunState, event: Fact<'channel.written'>, name: string, payload: Written): void {
  const version = toNumber(payload.schemaVersion ?? 1);
  const earlier = payload.reducer === 'replace' ? [] : (state.channelVersions.get(name) ?? []);
  if (earlier.some(([known]) => known === version)) return;
  state.channelVersions.set(name, [...earlier, [version, event.seq]]);
}

/** The first write that has not been served says when the node is due. */
function noteDue(state: RunState, event: Fact<'channel.written'>, triggers: Record<string, number>): void {
  for (const [nodeId, debounceMs] of Object.entries(triggers)) {
    const dueAt = event.at + toNumber(debounceMs);
    state.dueTriggers.set(nodeId, Math.min(state.dueTriggers.get(nodeId) ?? dueAt, dueAt));
  }
}

/** The node and what is behind it are as if they had not run, but for the count; it may start now. */
export function triggerFired(state: RunState, payload: Payload<'weft.trigger.fired'>): void {
  const nodeId = toText(payload.nodeId);
  state.dueTriggers.delete(nodeId);
  state.firedTriggers.add(nodeId);
  const { reenters } = payload;
  if (!Array.isArray(reenters)) return;
  for (const member of reenters) {
    const key = nodeKey(toText(member), []);
    state.nodes.delete(key);
    state.visits.set(key, (state.visits.get(key) ?? 0) + 1);
  }
}

/** What was written before the node began, it can see. */
export function triggeredNodeBegan(state: RunState, nodeId: string): void {
  if (state.firedTriggers.delete(nodeId)) state.dueTriggers.delete(nodeId);
}
