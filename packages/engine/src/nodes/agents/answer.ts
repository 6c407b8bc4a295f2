import {
  type ClientSchema,
  type EnvelopeKind,
  isHostError,
  type Json,
  type JsonObject,
  parseStrictJson,
  WorkBudget,
} from '@weft/protocol';
import type { Turn } from './agent-history.ts';
import {
  type Envelope,
  type EnvelopeProblem,
  ENVELOPES_PER_TURN,
  envelopesIn,
  readEnvelope,
  SCHEMA_ROUNDS,
} from './envelopes.ts';

/** What a node takes for an answer of its model. */
export interface AnswerRules {
  /** Held against the JSON that the answer is; without it the answer is text. */
  readonly schema?: ClientSchema | undefined;
  readonly takesEnvelopes: boolean;
  /** How often a model may be asked again for something that can be used. */
  readonly maxRounds: number;
}

export function answerRules(
  { envelopes, maxRepairs }: JsonObject,
  schema: ClientSchema | undefined,
): AnswerRules {
  const maxRounds = typeof maxRepairs === 'number' ? maxRepairs : DEFAULT_ROUNDS;
  return { schema, takesEnvelopes: envelopes !== false, maxRounds };
}

const DEFAULT_ROUNDS = 2;
export const MOST_ROUNDS = SCHEMA_ROUNDS;

/** What the text of a turn comes to. */
export type Verdict = (
  | { readonly type: 'answer'; readonly value: Json }
  | { readonly type: 'refusal' }
  /** Cut off where it had to be whole. */
  | { readonly type: 'truncated' }
  | Misfit
  | { readonly type: 'envelopes'; readonly envelopes: readonly Envelope[] }
  | { readonly type: 'too-many'; readonly observed: number }
) & {
  /** The JSON stood between fences. */
  readonly isFenced?: true;
};

export interface Misfit {
  readonly type: 'misfit';
  readonly reason: 'schema-violation' | 'parse-error' | 'type-mismatch';
  readonly code: EnvelopeProblem['code'];
  /** In words that the model can use. */
  readonly problem: string;
}

type Said = Pick<Turn, 'text' | 'finishReason' | 'number'>;

/** Of turns that call no tools, oldest first: an envelope is a repetition only of what came before it. */
export function readAnswers(turns: readonly Turn[], rules: AnswerRules): Map<number, Verdict> {
  const seen = new Map<string, EnvelopeKind>();
  const verdicts = new Map<number, Verdict>();
  for (const turn of turns) {
    if (turn.record.error !== undefined || turn.calls.length > 0) continue;
    const verdict = readAnswer(turn, rules, seen);
    verdicts.set(turn.number, verdict);
    if (verdict.type !== 'envelopes') continue;
    for (const { correlationId, type } of verdict.envelopes) seen.set(correlationId, type);
  }
  return verdicts;
}

export function readAnswer(
  said: Said,
  rules: AnswerRules,
  seen: ReadonlyMap<string, EnvelopeKind> = new Map(),
): Verdict {
  const { text, finishReason } = said;
  const { schema, takesEnvelopes } = rules;
  if (finishReason === 'content_filter') return { type: 'refusal' };
  if (finishReason === 'length' && schema !== undefined) return { type: 'truncated' };
  const whole = parsed(text);
  const misfit = schema && misfitOf(whole.value, schema);
  if (schema !== undefined && misfit === undefined) {
    return { type: 'answer', value: whole.value ?? null, ...fenced(whole) };
  }
  const found = takesEnvelopes ? foundEnvelopes(text, whole) : undefined;
  if (found !== undefined) return { ...judged(found.list, said, seen), ...fenced(found) };
  return misfit ?? { type: 'answer', value: text };
}

function misfitOf(value: Json | undefined, schema: ClientSchema): Misfit | undefined {
  const misfit = { type: 'misfit', code: 'envelope_invalid' } as const;
  if (value === undefined) return { ...misfit, reason: 'parse-error', problem: 'It is not JSON.' };
  const reason = 'schema-violation';
  try {
    const [problem] = schema(value, new WorkBudget());
    return (
      problem && {
        ...misfit,
        reason,
        problem: `${problem.path === '' ? 'It' : problem.path} ${problem.message}.`,
      }
    );
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { ...misfit, reason, problem: error.message };
  }
}

/** Every envelope has to be in order before one of them is acted on. */
function judged(
  list: readonly JsonObject[],
  { number }: Said,
  seen: ReadonlyMap<string, EnvelopeKind>,
): Verdict {
  if (list.length > ENVELOPES_PER_TURN) return { type: 'too-many', observed: list.length };
  const known = new Map(seen);
  const envelopes: Envelope[] = [];
  for (const [index, value] of list.entries()) {
    const envelope = readEnvelope(value, known, `turn-${number}.${index}`);
    if ('problem' in envelope) {
      const reason = envelope.code === 'unknown_envelope_kind' ? 'type-mismatch' : 'schema-violation';
      return { type: 'misfit', reason, ...envelope };
    }
    envelopes.push(envelope);
    known.set(envelope.correlationId, envelope.type);
  }
  return { type: 'envelopes', envelopes };
}

interface Parsed {
  readonly value: Json | undefined;
  readonly isFenced: boolean;
}

const MOST_DEPTH = 32;
/** A text of nothing but fences would be parsed a hundred thousand times. */
const MOST_FENCES = 64;
/** Models like to put JSON between fences. */
const FENCED = /^\s*```(?:json)?[ \t]*\r?\n([\s\S]*?)```\s*$/;
const FENCES = /```(?:json)?[ \t]*\r?\n([\s\S]*?)```/g;

function parsed(text: string): Parsed {
  const inner = FENCED.exec(text)?.[1];
  return { value: parseJson(inner ?? text), isFenced: inner !== undefined };
}

/** The text may be an envelope, a list of them, or hold them between fences, one after the other. */
function foundEnvelopes(
  text: string,
  { value, isFenced }: Parsed,
): { readonly list: readonly JsonObject[]; readonly isFenced: boolean } | undefined {
  if (value !== undefined) {
    const list = envelopesIn(value);
    return list && { list, isFenced };
  }
  const list: JsonObject[] = [];
  let looked = 0;
  for (const [, inner = ''] of text.matchAll(FENCES)) {
    const block = parseJson(inner);
    list.push(...((block === undefined ? undefined : envelopesIn(block)) ?? []));
    looked += 1;
    if (looked === MOST_FENCES) break;
  }
  return list.length === 0 ? undefined : { list, isFenced: true };
}

function parseJson(text: string): Json | undefined {
  try {
    return parseStrictJson(text, { maxDepth: MOST_DEPTH });
  } catch {
    return undefined;
  }
}

function fenced({ isFenced }: { readonly isFenced: boolean }): { isFenced?: true } {
  return isFenced ? { isFenced } : {};
}
