import { ENVELOPE_PAYLOADS, type EnvelopeKind, type EnvelopePayload, type Json } from '@weft/protocol';
import { type NodeEvent, NodeFailure, type Question } from '../../model/node-type.ts';
import type { ModelMessage } from '../../ports/models.ts';
import { questionStep, type Turn } from './agent-history.ts';
import { type AnswerRules, readAnswers, type Verdict } from './answer.ts';
import { type Envelope, ENVELOPES_PER_TURN } from './envelopes.ts';
import { untrusted } from './untrusted-text.ts';

/**
 * What follows from a turn that calls no tools, for every node that asks a model:
 *
 *   turn ──► answer
 *     │ ├──► a person is asked (clarification.request) ──► turn
 *     │ ├──► the model reports that it cannot (error)
 *     │ └──► failure: refused, too many envelopes, or the rounds are used up
 *     └────► another turn: what was said cannot be used, or asks for a schema
 */
export type AfterAnswer =
  | { readonly type: 'answer'; readonly value: Json }
  | { readonly type: 'refusal'; readonly failure: NodeFailure }
  | { readonly type: 'reported'; readonly error: EnvelopePayload<'error'> }
  | { readonly type: 'ask'; readonly ask: Question; readonly step: string }
  | { readonly type: 'again'; readonly events: readonly NodeEvent[] }
  | { readonly type: 'failure'; readonly failure: NodeFailure; readonly events: readonly NodeEvent[] };

/** Of the last of these turns. */
export function afterAnswer(nodeId: string, turns: readonly Turn[], rules: AnswerRules): AfterAnswer {
  const verdicts = readAnswers(turns, rules);
  const turn = turns.at(-1);
  const verdict = turn && verdicts.get(turn.number);
  if (turn === undefined || verdict === undefined) throw new TypeError('The last turn has given no answer.');
  switch (verdict.type) {
    case 'answer':
      return verdict;
    case 'refusal':
      return { type: 'refusal', failure: refused(turn) };
    case 'too-many':
      return tooMany(nodeId, verdict.observed);
    case 'envelopes':
      return afterEnvelopes(verdict.envelopes, turn) ?? again(nodeId, verdicts, rules, turn);
    case 'truncated':
    case 'misfit':
      return again(nodeId, verdicts, rules, turn);
  }
}

/** Questions one after the other, then a report; undefined when all is done that was asked for. */
function afterEnvelopes(envelopes: readonly Envelope[], turn: Turn): AfterAnswer | undefined {
  for (const [index, { type, payload, isRepeated }] of envelopes.entries()) {
    if (isRepeated) continue;
    if (type === 'error') return { type: 'reported', error: payload };
    if (type !== 'clarification.request' || turn.answers.has(index)) continue;
    const { questions, contextType } = payload;
    return {
      type: 'ask',
      step: questionStep(turn.number, index),
      ask: {
        kind: 'clarification',
        data: {
          questions: questions.map(({ id, question, schema }) => ({
            id,
            question,
            ...(schema && { schema }),
          })),
          contextType: contextType ?? 'ai-envelope',
        },
      },
    };
  }
  return undefined;
}

/** Rounds are counted for the node: what a person has answered is none. */
function again(
  nodeId: string,
  verdicts: ReadonlyMap<number, Verdict>,
  { maxRounds }: AnswerRules,
  turn: Turn,
): AfterAnswer {
  const verdict = verdicts.get(turn.number);
  const used = [...verdicts.values()].filter(isRound).length;
  if (verdict === undefined || !isRound(verdict)) return { type: 'again', events: [] };
  const { reason, code, problem } = troubleOf(verdict);
  if (used <= maxRounds) {
    if (reason === undefined) return { type: 'again', events: [] };
    const payload = { nodeId, attempt: used + 1, reason, previousError: problem };
    return { type: 'again', events: [{ type: 'envelope.retry.attempted', payload }] };
  }
  const exhausted = { nodeId, totalAttempts: used, finalReason: reason ?? 'unknown', finalError: problem };
  return {
    type: 'failure',
    failure: new NodeFailure(code, failureText(verdict, problem, used), {
      details: { attempts: used, provider: turn.provider },
    }),
    events: [
      { type: 'envelope.retry.exhausted', payload: exhausted },
      { type: 'cap.breached', payload: { kind: 'schema', limit: maxRounds, observed: used, nodeId } },
    ],
  };
}

function isRound(verdict: Verdict): boolean {
  if (verdict.type === 'misfit' || verdict.type === 'truncated') return true;
  return (
    verdict.type === 'envelopes' &&
    verdict.envelopes.every(({ type, isRepeated }) => isRepeated || type !== 'clarification.request')
  );
}

interface Trouble {
  /** Absent where the model has done nothing wrong. */
  readonly reason: 'truncation' | 'schema-violation' | 'parse-error' | 'type-mismatch' | undefined;
  readonly code: string;
  readonly problem: string;
}

function troubleOf(verdict: Verdict): Trouble {
  switch (verdict.type) {
    case 'misfit':
      return verdict;
    case 'truncated':
      return {
        reason: 'truncation',
        code: 'envelope_truncation_unrecoverable',
        problem: 'It was cut off before it was whole.',
      };
    default:
      return {
        reason: undefined,
        code: 'envelope_invalid',
        problem: 'It asked for schemas in place of an answer.',
      };
  }
}

function failureText(verdict: Verdict, problem: string, attempts: number): string {
  if (verdict.type === 'truncated') {
    return `The answer was cut off before it was whole, ${attempts} times. Raise config.maxTokens, or ask for less.`;
  }
  return `The model has not given an answer that can be used, ${attempts} times: ${problem}`;
}

/** What the provider says of it may repeat the prompt, and is not told. */
function refused({ provider }: Turn): NodeFailure {
  return new NodeFailure('envelope_refusal', 'The model refused to answer.', { details: { provider } });
}

function tooMany(nodeId: string, observed: number): AfterAnswer {
  const limit = ENVELOPES_PER_TURN;
  return {
    type: 'failure',
    failure: new NodeFailure(
      'envelope_limit_exceeded',
      `The model sent ${observed} envelopes in one turn; the limit is ${limit}.`,
      { details: { limit, observed } },
    ),
    events: [{ type: 'cap.breached', payload: { kind: 'envelopes', limit, observed, nodeId } }],
  };
}

/** A turn and its result as later prompts repeat them. A turn that was cut off is left out: it only needs more room. */
export function toldAnswer(turn: Turn, verdict: Verdict): ModelMessage[] {
  const assistant: ModelMessage = { role: 'assistant', text: turn.text };
  switch (verdict.type) {
    case 'misfit':
      return [assistant, { role: 'user', text: repairPrompt(verdict.problem) }];
    case 'envelopes':
      return [assistant, { role: 'user', text: repliesTo(verdict.envelopes, turn).join('\n\n') }];
    default:
      return [];
  }
}

/** More room after every answer that was cut off where it had to be whole. */
export function roomFor(
  maxTokens: Json | undefined,
  turns: readonly Turn[],
  verdicts: ReadonlyMap<number, Verdict>,
): number | undefined {
  const cut = turns.filter(({ number }) => verdicts.get(number)?.type === 'truncated');
  const first = typeof maxTokens === 'number' ? maxTokens : cut[0]?.usage.completionTokens;
  return first === undefined || first === 0 ? undefined : first * ROOM_MULTIPLIER ** cut.length;
}

export const ROOM_MULTIPLIER = 2;

function repairPrompt(problem: string): string {
  return `Your answer cannot be used.\n${untrusted(problem, 'validator')}\nAnswer again, with JSON that satisfies the schema and nothing else.`;
}

function repliesTo(envelopes: readonly Envelope[], turn: Turn): string[] {
  return envelopes.map(({ type, payload, isRepeated }, index) => {
    if (isRepeated) return 'This was asked before, and answered above.';
    if (type === 'schema.request') return schemaOf(payload.envelopeType as EnvelopeKind);
    if (type !== 'clarification.request') return 'Noted. Continue.';
    return `A person has answered your questions:\n${JSON.stringify(turn.answers.get(index)?.['answers'] ?? {})}`;
  });
}

function schemaOf(kind: EnvelopeKind): string {
  return `The schema of the payload of ${kind}:\n${JSON.stringify(ENVELOPE_PAYLOADS[kind])}`;
}
