import { Type } from 'typebox';
import { closed, jsonObject, nonEmpty, open } from '../../documents/schema-parts.ts';
import { INTERRUPT_KINDS } from '../interrupt-kinds.ts';

/** Pieces that payloads of several families share. */

const optional = Type.Optional;

export const EventError = open({
  code: nonEmpty,
  message: nonEmpty,
  details: optional(jsonObject),
  retryable: optional(Type.Boolean()),
});

export const InterruptKind = Type.Enum(INTERRUPT_KINDS);
export const AgentId = Type.String({ minLength: 3 });
export const Verbosity = Type.Enum(['summary', 'full', 'off']);
/** A probability or confidence. */
export const share = Type.Number({ minimum: 0, maximum: 1 });
export const amount = Type.Number({ minimum: 0 });
export const TextOrNull = Type.Union([Type.String(), Type.Null()]);
export const IntegerOrNull = Type.Union([Type.Integer(), Type.Null()]);

export const OrchestratorDecision = Type.Union([
  closed({
    kind: Type.Literal('next-worker'),
    nextWorkerIds: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1 }),
    confidence: optional(share),
  }),
  closed({ kind: Type.Literal('ask-user'), prompt: nonEmpty }),
  closed({
    kind: Type.Literal('terminate'),
    reason: optional(nonEmpty),
    confidence: optional(share),
    successCriteria: optional(Type.Array(closed({ key: nonEmpty, met: Type.Boolean() }))),
  }),
]);
