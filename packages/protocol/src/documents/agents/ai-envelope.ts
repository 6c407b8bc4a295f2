import { type Static, Type } from 'typebox';
import { closed, count, jsonObject, nonEmpty } from '../schema-parts.ts';

/**
 * What a model says to its host instead of an answer: an envelope, whose `type` says what its payload is. These are the four kinds that every
 * host with envelopes knows.
 */

const optional = Type.Optional;
const id = Type.String({ minLength: 1, maxLength: 128 });
const reasoning = optional(
  Type.String({ description: 'How the model came to this; nothing is decided by it.' }),
);
const kind = Type.String({ minLength: 1, maxLength: 256 });

const MOST_QUESTIONS = 64;

export const ENVELOPE_PAYLOADS = {
  'clarification.request': closed(
    {
      reasoning,
      questions: Type.Array(
        closed({ id, question: nonEmpty, schema: optional(jsonObject), context: optional(jsonObject) }),
        { minItems: 1, maxItems: MOST_QUESTIONS },
      ),
      contextType: optional(Type.String({ maxLength: 128 })),
    },
    'The model needs to know more before it can continue: a person is asked.',
  ),
  'schema.request': closed(
    { reasoning, envelopeType: kind, reason: optional(Type.String({ maxLength: 1024 })) },
    'The model wants to see the schema of a kind.',
  ),
  'schema.response': closed(
    { envelopeType: kind, ack: Type.Literal(true) },
    'The model has seen the schema that it asked for.',
  ),
  error: closed(
    {
      reasoning,
      code: id,
      message: nonEmpty,
      details: optional(jsonObject),
    },
    'The model cannot do what it was asked to, and says so.',
  ),
} as const;

export type EnvelopeKind = keyof typeof ENVELOPE_PAYLOADS;
export type EnvelopePayload<Kind extends EnvelopeKind> = Static<(typeof ENVELOPE_PAYLOADS)[Kind]>;

export const ENVELOPE_KINDS = Object.keys(ENVELOPE_PAYLOADS) as readonly EnvelopeKind[];

/** The version of every payload above. */
export const ENVELOPE_VERSION = 1;

export function isEnvelopeKind(type: string): type is EnvelopeKind {
  return Object.hasOwn(ENVELOPE_PAYLOADS, type);
}

/** As models send it: what they leave out the host adds, and what they say of themselves it does not believe. */
export const AiEnvelopeSchema = closed({
  type: kind,
  schemaVersion: optional(count),
  envelopeId: optional(id),
  correlationId: optional(id),
  nodeId: optional(id),
  payload: Type.Unknown(),
  meta: optional(
    closed({
      source: optional(Type.Enum(['ai-generation', 'user', 'system'])),
      contentTrust: optional(Type.Enum(['trusted', 'untrusted'])),
      ts: optional(Type.String()),
      traceparent: optional(Type.String()),
      label: optional(Type.String({ maxLength: 256 })),
      rendering: optional(jsonObject),
    }),
  ),
});
