import { type TSchema, Type } from 'typebox';
import { OutputChunkSchema } from '../events/catalogue/state.ts';
import { RunEventDocSchema } from '../events/events.ts';
import { AnnotationNoticeSchema, RUN_ANNOTATED } from './annotations.ts';
import { RunSnapshotSchema } from './runs.ts';
import { open } from './schema-parts.ts';

/** What is sent on event streams, by the name that stands in `event`. Any other name is the type of an event. */
export const SENT_CHUNK = 'ai.message.chunk';
export const SENT_SNAPSHOT = 'state.snapshot';
export const SENT_BATCH = 'batch';

const sequence = Type.String({ pattern: '^[0-9]+$', description: 'A sequence; Last-Event-ID takes it.' });

const json = (content: TSchema) =>
  Type.String({ contentMediaType: 'application/json', contentSchema: content });

const frame = (name: string, content: TSchema) =>
  open({ id: sequence, event: Type.Literal(name), data: json(content) });

const EventFrameSchema = open({
  id: sequence,
  event: RunEventDocSchema.properties.type,
  data: json(RunEventDocSchema),
});

/** What came within `bufferMs`, in order. */
export const BatchSchema = Type.Array(Type.Union([RunEventDocSchema, RunSnapshotSchema, OutputChunkSchema]), {
  minItems: 1,
});

export const StreamFrameSchema = Type.Union([
  EventFrameSchema,
  frame(SENT_SNAPSHOT, RunSnapshotSchema),
  frame(SENT_CHUNK, OutputChunkSchema),
  frame(SENT_BATCH, BatchSchema),
  // In no log, so no reader resumes from it.
  open({ event: Type.Literal(RUN_ANNOTATED), data: json(AnnotationNoticeSchema) }),
]);

/** Server-sent events, described by what they are once they are parsed. */
export const EventStreamSchema = Type.String({
  contentMediaType: 'text/event-stream',
  contentSchema: Type.Array(StreamFrameSchema),
});
