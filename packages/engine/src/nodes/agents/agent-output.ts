import { type Json, parseStrictJson, WorkBudget } from '@weft/protocol';
import type { PreparedAgent } from './agent-config.ts';
import type { Turn } from './agent-history.ts';

/** What of an answer does not satisfy the schema, in words; undefined when nothing, or where there is no schema. */
export function outputProblem(
  { text }: Pick<Turn, 'text'>,
  { outputSchema }: PreparedAgent,
): string | undefined {
  if (outputSchema === undefined) return undefined;
  const value = parsed(text);
  if (value === undefined) return 'it is not JSON';
  const [problem] = outputSchema(value, new WorkBudget());
  return problem && `${problem.path === '' ? 'it' : problem.path} ${problem.message}`;
}

/** The answer as the node puts it out: JSON where a schema asks for it, else text. */
export function outputOf({ text }: Pick<Turn, 'text'>, { outputSchema }: PreparedAgent): Json {
  return outputSchema === undefined ? text : (parsed(text) ?? null);
}

/** Models like to put JSON between fences. */
function parsed(text: string): Json | undefined {
  const [, fenced] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text) ?? [];
  try {
    return parseStrictJson(fenced ?? text, { maxDepth: 32 });
  } catch {
    return undefined;
  }
}
