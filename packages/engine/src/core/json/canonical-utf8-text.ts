import { canonicalJson, isJsonObject, type Json } from '@weft/protocol';

/** Canonical JSON (RFC 8785) as it is carried in UTF-8: half of a surrogate pair, which the RFC has no form for, is U+FFFD there. */
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
