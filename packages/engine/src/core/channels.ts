import { compileClientSchema, type Json, type JsonObject } from '@weft/protocol';
import { type ChannelRequest, NodeFailure } from '../node-type.ts';
import type { LiveRun, Stretch } from './live-run.ts';
import type { ChannelPlan, NodePlan, Plan } from './plan.ts';
import { maskValue } from './redaction.ts';
import { type ChannelWrite, reduce, shapeProblem, wrapEntry } from './reducers.ts';
import { sha256Hex } from '../hash.ts';
import { redactorFor } from './sensitive.ts';

/**
 * Writes to channels. What is declared decides how; a channel that is not declared takes its rules from the write and shows
 * up among the variables, as the protocol's early workflows expect it.
 */
export function checkChannelWrite(run: LiveRun, node: NodePlan, request: ChannelRequest): void {
  const channel = run.plan.channels.get(request.channel);
  if (channel !== undefined) checkAccess(channel, node);
  const rules = rulesOf(channel, request);
  const { reducer } = rules;
  const problem = shapeProblem(reducer, request.value);
  if (problem !== undefined) {
    throw new NodeFailure('validation_error', `Channel "${request.channel}": ${problem}.`, {
      details: { channel: request.channel, reducer },
    });
  }
  const write: ChannelWrite = { ...rules, value: request.value, at: run.state.lastAt };
  checkResult(run.plan, request, reduce(run.state.channels.get(request.channel), write));
}

export function writeChannel(stretch: Stretch, node: NodePlan, request: ChannelRequest): void {
  const { run } = stretch;
  const channel = run.plan.channels.get(request.channel);
  const at = Math.max(stretch.now, run.state.lastAt);
  const write: ChannelWrite = { ...rulesOf(channel, request), value: request.value, at };

  const value = wrapEntry(write);
  const shownValue = channel?.sensitive === true ? maskValue(value, run.plan.maskingMode, sha256Hex) : value;
  const shown: JsonObject = {
    channel: request.channel,
    value: shownValue ?? null,
    reducer: write.reducer,
    writtenAt: new Date(at).toISOString(),
    nodeId: node.id,
    ...(channel !== undefined && { schemaVersion: channel.schemaVersion }),
  };
  // The fold needs the rules in force at the write; readers of the event know a closed shape without them.
  const payload: JsonObject = {
    ...shown,
    value: request.value,
    ...(write.ttlMs !== undefined && { ttlMs: write.ttlMs }),
    ...(write.maxSize !== undefined && { maxSize: write.maxSize }),
    ...(channel === undefined && { isUndeclared: true }),
  };
  stretch.record({ type: 'channel.written', nodeId: node.id, payload, shown });
  if (channel?.sensitive === true) run.redactor = redactorFor(run.plan, run.state);
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

export function mayRead({ readers }: ChannelPlan, node: NodePlan): boolean {
  return readers === undefined || readers.some((entry) => matches(entry, node));
}

function checkAccess(channel: ChannelPlan, node: NodePlan): void {
  const { writers } = channel;
  if (writers === undefined || writers.some((entry) => matches(entry, node))) return;
  throw new NodeFailure(
    'channel_access_denied',
    `Node "${node.id}" may not write channel "${channel.name}".`,
    {
      details: {
        channel: channel.name,
        requestedBy: { nodeId: node.id, typeId: node.type.typeId },
        allowed: 'writers',
      },
    },
  );
}

/** An exact node id, or a type id that may end in a wildcard. */
function matches(entry: string, node: NodePlan): boolean {
  if (entry === node.id || entry === '*') return true;
  return entry.endsWith('*') && node.type.typeId.startsWith(entry.slice(0, -1));
}

function checkResult(plan: Plan, request: ChannelRequest, result: Json): void {
  const channel = plan.channels.get(request.channel);
  const size = Array.isArray(result) ? result.length : Object.keys(Object(result)).length;
  if (channel?.maxSize !== undefined && size > channel.maxSize) {
    throw tooLarge(request.channel, channel.maxSize, size);
  }
  if (channel?.schema === undefined) return;
  const [problem] = compileClientSchema(channel.schema)(result);
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
