/** The other spellings in which a secret string commonly leaves a program. */

/** Pieces of base64 shorter than this would match by accident. */
const MIN_BASE64_PIECE = 8;

const utf8 = new TextEncoder();

export function secretForms(secret: string): Set<string> {
  const forms = new Set<string>([
    JSON.stringify(secret).slice(1, -1),
    ...percentEncoded(secret),
    ...base64Forms(secret),
  ]);
  forms.delete(secret);
  return forms;
}

function percentEncoded(secret: string): string[] {
  // A lone surrogate has no UTF-8 form, so it cannot appear percent-encoded either.
  if (/\p{Surrogate}/u.test(secret)) return [];
  const encoded = encodeURIComponent(secret);
  const strict = encoded.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return [encoded, strict].flatMap((form) => [
    form,
    form.replaceAll('%20', '+'),
    form.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
  ]);
}

/**
 * Base64 of the secret alone, and the part of it that is the same whatever stands before and after: the encoding of
 * `user:secret` contains one of three alignments.
 */
function base64Forms(secret: string): string[] {
  const bytes = utf8.encode(secret);
  const forms = [base64(bytes).replace(/=+$/, '')];
  for (let shift = 0; shift < 3; shift++) {
    const shifted = new Uint8Array(shift + bytes.length);
    shifted.set(bytes, shift);
    const touchedBefore = Math.ceil((shift * 8) / 6);
    const wholeCharacters = Math.floor((shifted.length * 8) / 6);
    const piece = base64(shifted).slice(touchedBefore, wholeCharacters);
    if (piece.length >= MIN_BASE64_PIECE) forms.push(piece);
  }
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}

function base64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
