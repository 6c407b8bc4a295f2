import { ARRAY_KEYWORDS } from './array-keywords.ts';
import { COMPOSING_KEYWORDS } from './composing-keywords.ts';
import type { Keyword } from './keyword.ts';
import { OBJECT_KEYWORDS } from './object-keywords.ts';
import { SCALAR_KEYWORDS, VALUE_KEYWORDS } from './scalar-keywords.ts';

/**
 * The keywords of JSON Schema 2020-12, in the order in which they are asked: those about what is left unevaluated come last of
 * their kind. A word without a row means nothing, as the standard wants it.
 */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  Object.entries({
    ...VALUE_KEYWORDS,
    ...COMPOSING_KEYWORDS,
    ...SCALAR_KEYWORDS,
    ...ARRAY_KEYWORDS,
    ...OBJECT_KEYWORDS,
  }),
);
