import type { Page } from '@weft/engine';
import type { Call } from '../call.ts';
import { integerParam, queryOf, textParam } from '../http/query.ts';

/** `limit` and `cursor` of a list; the cursor comes from the page before. */
export function pageOf(call: Call): Page {
  const query = queryOf(call);
  const limit = integerParam(query, 'limit', { min: 1, max: 500 }) ?? 50;
  const cursor = textParam(query, 'cursor');
  return cursor === undefined ? { limit } : { limit, cursor };
}
