import type { Json } from '@weft/protocol';
import { type ChannelRequest, NodeFailure } from '../../model/node-type.ts';
import type { ChannelCommand } from '../../ports/store.ts';
import type { Payload } from '../../model/run-event.ts';
import { checkVersions } from './channel-versions.ts';
import type { LiveRun, Batch } from '../decide/live-run.ts';
import { checkParent, sendToParent } from './send-to-parent.ts';
import type { ChannelPlan, NodePlan } from '../compile/plan.ts';
import { firstProblem } from '../expressions/schema-problem.ts';
import { maskSensitive } from '../redaction/redaction.ts';
import { type ChannelWrite, reduce, type Reducer, shapeProblem, wrapEntry } from './reducers.ts';
import { trackSensitive } from '../redaction/sensitive.ts';
import { noteChannel, type SensitiveReads } from '../redaction/sensitive-reads.ts';
import { asDeclared, isSensitive, recorded, type Sensitivity } from '../redaction/sensitivity.ts';

/**
 * Writes to channels. What is declared decides how; a channel that is not declared takes its rules from the write and shows
 * up among the variables, as the protocol's early workflows expect it.
 */
export function checkChannelWrites(run: LiveRun, node: NodePlan, requests: readonly ChannelRequest[]): void {
  for (const request of requests) checkChannelWrite(run, node, request);
}

export function checkChannelWrite(run: LiveRun, node: NodePlan, request: ChannelRequest): void {
  if (request.to === 'parent') return checkParent(run);
  const channel = run.plan.channels.get(request.channel);
  if (channel !== undefined) checkAccess(channel, writerOf(node));
  checkValue(run, request);
}

/** Checks the value, independent of the writer. */
export function checkValue(run: LiveRun, request: ChannelRequest): void {
  checkVersions(run, request.channel);
  const rules = rulesOf(run.plan.channels.get(request.channel), request);
  const { reducer } = rules;
  const problem = shapeProblem(reducer, request.value);
  if (problem !== undefined) {
    throw new NodeFailure('validation_error', `Channel "${request.channel}": ${problem}.`, {
      details: { channel: request.channel, reducer },
    });
  }
  const write: ChannelWrite = { ...rules, value: request.value, at: run.state.lastAt };
  checkResult(run, request, reduce(run.state.channels.get(request.channel), write));
}

/** `sensitivityOf` says of each value that is written what of it is sensitive. */
export function writeChannels(
  batch: Batch,
  node: NodePlan,
  requests: readonly ChannelRequest[],
  sensitivityOf: (value: Json) => Sensitivity | undefined,
): void {
  for (const request of requests) writeChannel(batch, node, request, sensitivityOf(request.value));
}

export function writeChannel(
  batch: Batch,
  node: NodePlan,
  request: ChannelRequest,
  sensitivity: Sensitivity | undefined,
): void {
  if (request.to === 'parent') sendToParent(batch, writerOf(node), request, sensitivity);
  else recordWrite(batch, request, node.id, sensitivity);
}

/** `source` is the node that writes, or what a child run sent. */
export function recordWrite(
  batch: Batch,
  request: ChannelRequest,
  source: string | ChannelCommand,
  computed: Sensitivity | undefined,
): void {
  const { run } = batch;
  const channel = run.plan.channels.get(request.channel);
  // A channel that no one declares is kept among the variables.
  const declared = (channel ?? run.plan.variables.get(request.channel))?.sensitive;
  const sensitivity = asDeclared(computed, declared);
  if (sensitivity !== undefined) trackSensitive(run);
  const at = Math.max(batch.now, run.state.lastAt);
  const write: ChannelWrite = { ...rulesOf(channel, request), value: request.value, at };

  const value = wrapEntry(write);
  // What the reducer has wrapped has other members than what was written.
  const ofValue = value === request.value ? sensitivity : isSensitive(sensitivity);
  const shownValue = maskSensitive(value, ofValue, run.masking);
  const shown: Payload<'channel.written'> = {
    channel: request.channel,
    value: shownValue ?? null,
    reducer: write.reducer,
    writtenAt: new Date(at).toISOString(),
    ...(typeof source === 'string' ? { nodeId: source } : originOf(source)),
    ...(channel !== undefined && { schemaVersion: channel.schemaVersion }),
  };
  // The fold needs the rules in force at the write; readers of the event know a closed shape without them.
  const payload: Payload<'channel.written'> = {
    ...shown,
    value: request.value,
    ...(write.ttlMs !== undefined && { ttlMs: write.ttlMs }),
    ...(write.maxSize !== undefined && { maxSize: write.maxSize }),
    ...(channel === undefined && { isUndeclared: true }),
    ...recorded('sensitive', sensitivity),
    ...(typeof source !== 'string' && { writer: { ...source.writer } }),
    ...triggeredBy(run, request.channel, source),
  };
  const nodeId = typeof source === 'string' ? { nodeId: source } : {};
  batch.record({ type: 'channel.written', ...nodeId, payload, shown });
}

function originOf({
  sourceEngineId,
  sourceRunId,
}: ChannelCommand): Pick<ChannelCommand, 'sourceEngineId' | 'sourceRunId'> {
  return { sourceEngineId, sourceRunId };
}

/** Which nodes the write makes due, and after how long: not those behind which it was written. */
function triggeredBy(
  run: LiveRun,
  channel: string,
  source: string | ChannelCommand,
): Pick<Payload<'channel.written'>, 'triggers'> {
  const { plan, state } = run;
  if (plan.triggers.size === 0) return {};
  const isChild = typeof source !== 'string';
  const child = isChild ? state.children.find(({ runId }) => runId === source.sourceRunId) : undefined;
  const writer = isChild ? state.nodes.get(child?.nodeKey ?? '')?.nodeId : source;
  const triggers: Record<string, number> = {};
  for (const { nodeId, channels, behind } of plan.triggers.values()) {
    if (behind.has(writer ?? '') || plan.nodes.get(nodeId)?.disabled === true) continue;
    const waits = channels
      .filter((watched) => watched.channel === channel)
      .filter(({ onlyFrom }) => onlyFrom === 'any' || (onlyFrom === 'child') === isChild)
      .map(({ debounceMs }) => debounceMs);
    if (waits.length > 0) triggers[nodeId] = Math.min(...waits);
  }
  return Object.keys(triggers).length > 0 ? { triggers } : {};
}

function writerOf({ id, type }: NodePlan): ChannelCommand['writer'] {
  return { nodeId: id, typeId: type.typeId };
}

function rulesOf(
  channel: ChannelPlan | undefined,
  request: ChannelRequest,
): Omit<ChannelWrite, 'value' | 'at'> {
  const { reducer, ttlMs, maxSize } = channel ?? request;
  return {
    reducer: reducer ?? 'replace',
    ...(ttlMs !== undefined && { ttlMs }),
    ...(maxSize !== undefined && { maxSize }),
  };
}

/** What the node may read, as folded so far; a channel that no one has written holds what its reducer begins with. */
export function readableChannels(
  run: LiveRun,
  node: NodePlan,
  reads?: SensitiveReads,
): ReadonlyMap<string, Json> {
  const readable = new Map<string, Json>();
  for (const channel of run.plan.channels.values()) {
    if (mayRead(channel, node))
      readable.set(channel.name, run.state.channels.get(channel.name) ?? EMPTY[channel.reducer]);
  }
  // Asked for by name, so that entries of an old schema stop only those who read them.
  const read = readable.get.bind(readable);
  return Object.assign(readable, {
    get: (name: string) => {
      checkVersions(run, name);
      if (reads !== undefined) noteChannel(reads, name);
      return read(name);
    },
  });
}

const EMPTY: Readonly<Record<Reducer, Json>> = {
  replace: null,
  append: [],
  merge: {},
  counter: 0,
  votes: [],
  feedback: [],
  message: [],
};

export function mayWrite({ writers }: ChannelPlan, node: NodePlan): boolean {
  return writers === undefined || writers.some((entry) => matches(entry, writerOf(node)));
}

function mayRead({ readers }: ChannelPlan, node: NodePlan): boolean {
  return readers === undefined || readers.some((entry) => matches(entry, writerOf(node)));
}

export function checkAccess({ name, writers }: ChannelPlan, writer: ChannelCommand['writer']): void {
  if (writers === undefined || writers.some((entry) => matches(entry, writer))) return;
  throw new NodeFailure('channel_access_denied', `Node "${writer.nodeId}" may not write channel "${name}".`, {
    details: { channel: name, requestedBy: { ...writer }, allowed: 'writers' },
  });
}

/** An exact node id, or a type id that may end in a wildcard. */
function matches(entry: string, { nodeId, typeId }: ChannelCommand['writer']): boolean {
  if (entry === nodeId || entry === '*') return true;
  return entry.endsWith('*') && typeId.startsWith(entry.slice(0, -1));
}

function checkResult(run: LiveRun, request: ChannelRequest, result: Json): void {
  const channel = run.plan.channels.get(request.channel);
  const size = Array.isArray(result) ? result.length : Object.keys(Object(result)).length;
  if (channel?.maxSize !== undefined && size > channel.maxSize) {
    throw tooLarge(request.channel, channel.maxSize, size);
  }
  if (channel?.schema === undefined) return;
  const problem = firstProblem(channel.schema, result, run.budget);
  if (problem === undefined) return;
  throw new NodeFailure(
    'validation_error',
    `Channel "${request.channel}" would not fit its schema: ${problem.message}.`,
    {
      details: { channel: request.channel, path: problem.path },
    },
  );
}

function tooLarge(channel: string, limit: number, observed: number): NodeFailure {
  return new NodeFailure(
    'validation_error',
    `Channel "${channel}" would hold ${observed} members; ${limit} are allowed.`,
    {
      details: { channel, limit, observed },
    },
  );
}
