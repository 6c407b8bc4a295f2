import type { JsonObject } from '@weft/protocol';

/** What is advertised as `agents.reasoning`. */
export const REASONING = { verbosity: 'summary', tokenLimit: 512, streaming: true } as const;

export type ReasoningVerbosity = 'summary' | 'full' | 'off';

/** Of a reasoning text that the verbosity "summary" keeps, at about four characters a token. */
const SUMMARY_CHARACTERS = REASONING.tokenLimit * 4;

export function verbosityOf({ reasoningVerbosity: asked }: JsonObject): ReasoningVerbosity {
  return asked === 'full' || asked === 'off' ? asked : REASONING.verbosity;
}

/** How many characters of reasoning a run has in its log, of each turn. */
export function reasoningLimit(verbosity: ReasoningVerbosity): number {
  if (verbosity === 'full') return Number.POSITIVE_INFINITY;
  return verbosity === 'off' ? 0 : SUMMARY_CHARACTERS;
}

/** The beginning of a text, without half a character at its end. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const isHalf = /[\ud800-\udbff]/.test(text[limit - 1] ?? '');
  return text.slice(0, isHalf ? limit - 1 : limit);
}
