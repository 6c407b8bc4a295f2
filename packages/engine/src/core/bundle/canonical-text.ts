import { canonicalJson, type Json } from '@weft/protocol';

/** Canonical JSON (RFC 8785) of whatever a log may hold. A lone surrogate has no UTF-8 form and becomes U+FFFD. */
export function canonicalText(value: Json): string {
  try {
    return canonicalJson(value);
  } catch {
    return canonicalJson(wellFormed(value));
  }
}

export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** Only lone surrogates are escaped by the serializer. */
function wellFormed(value: Json): Json {
  return JSON.parse(JSON.stringify(value).replace(/\\ud[89a-f][0-9a-f]{2}/gi, '\\ufffd')) as Json;
}
