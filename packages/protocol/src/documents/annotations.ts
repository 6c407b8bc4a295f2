import { type Static, Type } from 'typebox';
import { closed, dateTime, nameOf, nonEmpty, open, runId } from './schema-parts.ts';
import type { StreamMode } from '../events/stream-mode-names.ts';

/** What people note about a run, during or after it. Kept next to the log, never in it; so nothing replays it. */

const optional = Type.Optional;

/** Sent to open streams and never stored, so it is not in the catalogue, has no sequence and moves no reader's position. */
export const RUN_ANNOTATED = 'run.annotated';

export const SIGNAL_KINDS = ['rating', 'correction', 'label', 'flag'] as const;
export const ANNOTATION_TARGETS = ['run', 'event', 'node'] as const;

const MAX_LABEL = 256;
const MAX_NOTE = 4 * 1024;
const MAX_CORRECTION = 16 * 1024;

const rating = Type.Integer({ minimum: 1, maximum: 5 });

/** Each kind brings the field of its own name and no other; a flag brings none. */
const NewSignalSchema = Type.Union([
  closed({ kind: Type.Literal('rating'), rating }),
  closed({
    kind: Type.Literal('correction'),
    correction: Type.String({ minLength: 1, maxLength: MAX_CORRECTION }),
  }),
  closed({ kind: Type.Literal('label'), label: nameOf({ minLength: 1, maxLength: MAX_LABEL }) }),
  closed({ kind: Type.Literal('flag') }),
]);

export const AnnotationCreateSchema = closed({
  signal: NewSignalSchema,
  target: optional(
    closed({
      eventId: optional(nameOf({ minLength: 1, maxLength: 256 })),
      nodeId: optional(nameOf({ minLength: 1, maxLength: 256 })),
    }),
  ),
  note: optional(Type.String({ maxLength: MAX_NOTE })),
});

export const AnnotationSchema = closed({
  annotationId: nonEmpty,
  target: closed({ runId, eventId: optional(Type.String()), nodeId: optional(Type.String()) }),
  signal: closed({
    kind: Type.Enum(SIGNAL_KINDS),
    rating: optional(rating),
    label: optional(Type.String()),
    correction: optional(Type.String()),
  }),
  actor: closed({ principalRef: nonEmpty }),
  note: optional(Type.String()),
  createdAt: dateTime,
});

/** What open streams get to see of an annotation: like an event, but without a sequence. */
export const AnnotationNoticeSchema = open({
  eventId: nonEmpty,
  runId,
  type: Type.Literal(RUN_ANNOTATED),
  timestamp: dateTime,
  nodeId: optional(Type.String()),
  payload: AnnotationSchema,
});

export const AnnotationListSchema = closed({ annotations: Type.Array(AnnotationSchema) });

export type AnnotationCreate = Static<typeof AnnotationCreateSchema>;
export type Annotation = Static<typeof AnnotationSchema>;

export function showsAnnotations(modes: readonly StreamMode[]): boolean {
  return modes.includes('updates') || modes.includes('debug');
}
