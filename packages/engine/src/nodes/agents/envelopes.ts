import {
  AiEnvelopeSchema,
  compileClientSchema,
  compileValidator,
  createAllowance,
  ENVELOPE_KINDS,
  ENVELOPE_PAYLOADS,
  ENVELOPE_VERSION,
  type EnvelopeKind,
  type EnvelopePayload,
  isEnvelopeKind,
  isHostError,
  isJsonObject,
  type Json,
  type JsonObject,
  type Problem,
} from '@weft/protocol';

/**
 * Envelopes in what a model says: typed messages to the host instead of an answer. Looked at in the order that the contract gives: shape,
 * kind, payload, limits, repetition.
 *
 * M-12. An envelope asks a person, asks for a schema, or reports; it answers nothing. What it says of its own source is not believed.
 */

/** Limits of the contract that hold for every node; how often it may ask for clarification is a limit of the run. */
export const ENVELOPES_PER_TURN = 5;
export const SCHEMA_ROUNDS = 4;

export type Envelope = {
  [Kind in EnvelopeKind]: {
    readonly type: Kind;
    readonly correlationId: string;
    readonly payload: EnvelopePayload<Kind>;
    /** An earlier one of this node had the same id: it is not acted on again. */
    readonly isRepeated: boolean;
  };
}[EnvelopeKind];

export interface EnvelopeProblem {
  readonly code:
    | 'invalid_envelope_shape'
    | 'unknown_envelope_kind'
    | 'unknown_schema_version'
    | 'envelope_invalid'
    | 'envelope_correlation_conflict';
  readonly problem: string;
}

/** The envelopes that a value is, one or a list; undefined where it is something else. */
export function envelopesIn(value: Json): readonly JsonObject[] | undefined {
  const list = Array.isArray(value) ? value : [value];
  return list.length > 0 && list.every(isEnvelope) ? list : undefined;
}

/** Any object may have a type and a payload: one of another kind has an id of envelopes, too. */
function isEnvelope(value: Json): value is JsonObject {
  if (!isJsonObject(value) || typeof value['type'] !== 'string' || value['payload'] === undefined)
    return false;
  return isEnvelopeKind(value['type']) || 'envelopeId' in value || 'correlationId' in value;
}

const shapeProblems = compileValidator(AiEnvelopeSchema);
const payloadProblems = Object.fromEntries(
  ENVELOPE_KINDS.map((kind) => [kind, compileValidator(ENVELOPE_PAYLOADS[kind])]),
) as Record<EnvelopeKind, ReturnType<typeof compileValidator>>;

/** `seen`: kinds by correlation id, of this node so far; `standIn`: the id of one that brings none. */
export function readEnvelope(
  value: JsonObject,
  seen: ReadonlyMap<string, EnvelopeKind>,
  standIn: string,
): Envelope | EnvelopeProblem {
  const shape = told(shapeProblems(value));
  if (shape !== undefined) return { code: 'invalid_envelope_shape', problem: shape };
  const {
    type,
    payload,
    schemaVersion = 0,
    correlationId = standIn,
  } = value as {
    readonly type: string;
    readonly payload: Json;
    readonly schemaVersion?: number;
    readonly correlationId?: string;
  };
  if (!isEnvelopeKind(type)) return unknownKind('type');
  if (schemaVersion > ENVELOPE_VERSION) {
    return { code: 'unknown_schema_version', problem: `The newest schemaVersion is ${ENVELOPE_VERSION}.` };
  }
  const wrong = told(payloadProblems[type](payload));
  if (wrong !== undefined) return { code: 'envelope_invalid', problem: `payload: ${wrong}` };
  const before = seen.get(correlationId);
  if (before !== undefined && before !== type) {
    return { code: 'envelope_correlation_conflict', problem: 'Its correlationId was used for another kind.' };
  }
  const envelope = { type, payload, correlationId, isRepeated: before !== undefined } as Envelope;
  return contentProblem(envelope) ?? envelope;
}

/** What a schema cannot say. */
function contentProblem({ type, payload }: Envelope): EnvelopeProblem | undefined {
  if (type === 'schema.request' && !isEnvelopeKind(payload.envelopeType))
    return unknownKind('payload.envelopeType');
  if (type !== 'clarification.request') return undefined;
  const ids = new Set<string>();
  for (const { id, schema } of payload.questions) {
    if (ids.has(id)) return { code: 'envelope_invalid', problem: 'Two questions have the same id.' };
    ids.add(id);
    const problem = schema === undefined ? undefined : schemaProblem(schema);
    if (problem !== undefined)
      return { code: 'envelope_invalid', problem: `The schema of a question: ${problem}` };
  }
  return undefined;
}

/** A schema that cannot be held would make the question one that no answer satisfies. */
function schemaProblem(schema: JsonObject): string | undefined {
  try {
    compileClientSchema(schema, { allowance: createAllowance() });
    return undefined;
  } catch (error) {
    if (!isHostError(error)) throw error;
    return error.message;
  }
}

function unknownKind(where: string): EnvelopeProblem {
  const problem = `${where} names no kind; there are ${ENVELOPE_KINDS.join(', ')}.`;
  return { code: 'unknown_envelope_kind', problem };
}

function told([problem]: readonly Problem[]): string | undefined {
  return problem && `${problem.path === '' ? 'it' : problem.path} ${problem.message}.`;
}

/** For nodes that tell their model what it may say instead of an answer. */
export const ENVELOPE_NOTE = [
  'Instead of an answer you may send the host one JSON object and nothing else:',
  '{"type": "clarification.request", "payload": {"questions": [{"id": "q1", "question": "..."}]}} when you need to know something from a person first; their answers come in the next message.',
  '{"type": "error", "payload": {"code": "...", "message": "..."}} when you cannot do what is asked, with the reason. Do not guess instead.',
  '{"type": "schema.request", "payload": {"envelopeType": "clarification.request"}} to see the schema of such an object.',
].join('\n');
