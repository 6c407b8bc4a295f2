import type { Json } from '@weft/protocol';

const MAX_DEPTH = 64;
const LONE_SURROGATE = /\p{Surrogate}/u;
const JSON_TYPE = /^application\/(?:[^;\s]+\+)?json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i;
const UTF8 = new TextDecoder();

/** JSON when the content type says so and the text is JSON that we can store unchanged; else the text. */
export function decodeBody(bytes: Uint8Array, contentType: string): Json {
  const text = decodeText(bytes, contentType);
  if (!JSON_TYPE.test(contentType.trim())) return text;
  try {
    const parsed = JSON.parse(text) as Json;
    return isStorable(parsed) ? parsed : text;
  } catch {
    return text; // not JSON after all
  }
}

function decodeText(bytes: Uint8Array, contentType: string): string {
  const charset = CHARSET.exec(contentType)?.[1] ?? 'utf-8';
  if (charset.toLowerCase() === 'utf-8') return UTF8.decode(bytes);
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return UTF8.decode(bytes); // a charset no one knows is read as UTF-8
  }
}

/** Numbers that overflow, lone surrogates and very deep nesting would not come back from the store as they went in. */
function isStorable(value: Json, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return !LONE_SURROGATE.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((item) => isStorable(item, depth + 1));
  for (const key of Object.keys(value)) {
    if (LONE_SURROGATE.test(key) || !isStorable(value[key] ?? null, depth + 1)) return false;
  }
  return true;
}
