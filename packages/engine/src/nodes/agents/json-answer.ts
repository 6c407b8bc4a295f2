import { isHostError, type Json, parseStrictJson, WorkBudget } from '@weft/protocol';
import type { ClientSchema } from '@weft/protocol';

const MOST_DEPTH = 32;
/** Models like to put JSON between fences. */
const FENCED = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/;

export type JsonAnswer =
  | { readonly value: Json }
  /** What is wrong, in words that the model can use. */
  | { readonly problem: string; readonly reason: 'schema-violation' | 'parse-error' };

/** The text of a model as the value that a schema asks for. */
export function readJsonAnswer(text: string, schema: ClientSchema): JsonAnswer {
  const value = parsed(text);
  if (value === undefined) return { problem: 'It is not JSON.', reason: 'parse-error' };
  try {
    const [problem] = schema(value, new WorkBudget());
    if (problem === undefined) return { value };
    return {
      problem: `${problem.path === '' ? 'It' : problem.path} ${problem.message}.`,
      reason: 'schema-violation',
    };
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { problem: error.message, reason: 'schema-violation' };
  }
}

function parsed(text: string): Json | undefined {
  try {
    return parseStrictJson(FENCED.exec(text)?.[1] ?? text, { maxDepth: MOST_DEPTH });
  } catch {
    return undefined;
  }
}
