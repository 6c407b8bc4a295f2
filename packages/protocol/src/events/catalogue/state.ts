import { Type } from 'typebox';
import {
  anyJson,
  closed,
  count,
  dateTime,
  jsonObject,
  nonEmpty,
  open,
  positive,
} from '../../documents/schema-parts.ts';
import { CHUNKS, DEBUG, UPDATES, event, family } from './row.ts';

const optional = Type.Optional;

const ChunkMeta = closed({
  finishReason: optional(Type.Enum(['stop', 'length', 'tool_calls', 'content_filter'])),
  logprobs: optional(Type.Array(jsonObject)),
  toolCalls: optional(Type.Array(open({ id: Type.String(), name: Type.String(), arguments: Type.String() }))),
  model: optional(Type.String()),
  usage: optional(
    open({
      promptTokens: optional(count),
      completionTokens: optional(count),
      totalTokens: optional(count),
    }),
  ),
  provider: optional(Type.String()),
  providerExtensions: optional(jsonObject),
});

/** The one shape of streamed text: the payload of the stored event, and what `ai.message.chunk` carries. */
export const OutputChunkSchema = open({
  nodeId: nonEmpty,
  runId: nonEmpty,
  chunk: Type.String(),
  isLast: Type.Boolean(),
  channel: optional(Type.String()),
  meta: optional(ChunkMeta),
});

export const STATE_EVENTS = family('state', [
  event(
    'channel.written',
    DEBUG,
    closed({
      channel: Type.String({ minLength: 1, maxLength: 256 }),
      value: anyJson,
      reducer: nonEmpty,
      writtenAt: dateTime,
      nodeId: optional(Type.String()),
      schemaVersion: optional(positive),
      sourceEngineId: optional(Type.String()),
      sourceRunId: optional(Type.String()),
    }),
    'A value was written to a channel, before the reducer is applied.',
  ),
  event(
    'artifact.created',
    UPDATES,
    open({
      artifactId: nonEmpty,
      artifactType: nonEmpty,
      nodeId: optional(Type.String()),
      version: optional(Type.String()),
      summary: optional(Type.String()),
      registered: optional(Type.Boolean()),
      registrationSource: optional(Type.Enum(['pack', 'host'])),
    }),
    'A node produced a typed artifact.',
  ),
  event(
    'output.chunk',
    CHUNKS,
    OutputChunkSchema,
    'A piece of streamed output; in messages mode it is sent as ai.message.chunk.',
  ),
  event(
    'variable.changed',
    DEBUG,
    open({
      name: nonEmpty,
      previous: optional(anyJson),
      next: optional(anyJson),
      nodeId: optional(Type.String()),
    }),
    'A workflow variable changed; sensitive values are masked.',
  ),
  event(
    'log.appended',
    DEBUG,
    open({
      level: Type.Enum(['debug', 'info', 'warn', 'error']),
      message: Type.String(),
      nodeId: optional(Type.String()),
      fields: optional(jsonObject),
    }),
    'A node wrote a log line.',
  ),
  event(
    'version.pinned',
    DEBUG,
    open({ changeId: nonEmpty, version: Type.Integer({ minimum: -1 }), nodeId: optional(Type.String()) }),
    'A run fixed the version of a change for the rest of its life.',
  ),
]);
