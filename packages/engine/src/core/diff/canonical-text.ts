import type { Json } from '@weft/protocol';

/**
 * RFC 8785 for whatever stands in a log. Where it refuses a value (half of a surrogate pair), the escape stands: a log that
 * holds one must still be comparable, from its first event to its last.
 */
export function canonicalText(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  const members: string[] = [];
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${canonicalText(member)}`);
  }
  return `{${members.join(',')}}`;
}
