import { canonicalJson, isJsonObject, type Json } from '@weft/protocol';

/**
 * Canonical JSON (RFC 8785) of whatever a log may hold. The RFC has no form for half of a surrogate pair, which imported logs may
 * hold: in a diff its escape stands, so that every log can be compared; what is carried as UTF-8 has U+FFFD in its place.
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

export function canonicalUtf8Text(value: Json): string {
  try {
    return canonicalJson(value);
  } catch {
    return canonicalJson(wellFormed(value));
  }
}

export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), wellFormed(member)]),
  );
}
