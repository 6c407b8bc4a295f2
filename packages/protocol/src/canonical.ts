import canonicalize from 'canonicalize';
import type { Json } from './json.ts';

/** RFC 8785: the same value always gives the same text, whatever the order of its keys. */
export function canonicalJson(value: Json): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('Only JSON values have a canonical form.');
  return text;
}
