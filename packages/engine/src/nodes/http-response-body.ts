import type { Json } from '@weft/protocol';

const MAX_DEPTH = 64;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** JSON when the content type says so and the text is JSON that we can store unchanged; else the text. */
export function decodeBody(bytes: Uint8Array, contentType: string): Json {
  const text = decodeText(bytes, contentType);
  if (!/^application\/(?:[^;\s]+\+)?json\s*(?:;|$)/i.test(contentType.trim())) return text;
  try {
    const parsed = JSON.parse(text) as Json;
    return isStorable(parsed) ? parsed : text;
  } catch {
    return text; // not JSON after all
  }
}

function decodeText(bytes: Uint8Array, contentType: string): string {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // a charset nobody knows is read as UTF-8
  }
}

/** Numbers that overflow, lone surrogates and very deep nesting would not come back from the store as they went in. */
function isStorable(root: Json): boolean {
  const open: { value: Json; depth: number }[] = [{ value: root, depth: 0 }];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const { value, depth } = entry;
    if (depth > MAX_DEPTH) return false;
    if (typeof value === 'number' && !Number.isFinite(value)) return false;
    if (typeof value === 'string' && LONE_SURROGATE.test(value)) return false;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, member] of Object.entries(value)) {
      if (LONE_SURROGATE.test(key)) return false;
      open.push({ value: member, depth: depth + 1 });
    }
  }
  return true;
}
