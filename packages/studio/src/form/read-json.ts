import { isHostError, type Json, parseStrictJson } from '@weft/protocol/plain';

export type ReadJson =
  | { readonly value: Json }
  /** Where the text stops being JSON, and what is wrong there. */
  | { readonly position: number; readonly problem: string };

/** As the host reads it: a name that stands twice is wrong, too. */
export function readJson(text: string): ReadJson {
  try {
    return { value: parseStrictJson(text) };
  } catch (error) {
    if (!isHostError(error)) throw error;
    const position = Number(error.details?.['position'] ?? 0);
    const before = text.slice(0, position).split('\n');
    const place = `line ${before.length}, character ${(before.at(-1) ?? '').length + 1}`;
    return { position, problem: `${place}: ${error.message.replace(/^[^:]*: /, '').replace(/\.$/, '')}` };
  }
}
