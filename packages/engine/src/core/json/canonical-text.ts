import type { Json } from '@weft/protocol/plain';

/**
 * Canonical JSON (RFC 8785) of whatever a log may hold. The RFC has no form for half of a surrogate pair, which imported logs may
 * hold: in a diff its escape stands, so that every log can be compared. Runs in browsers too.
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
