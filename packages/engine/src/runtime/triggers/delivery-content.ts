import { isUtf8 } from 'node:buffer';
import { type Json, type JsonObject, parseStrictJson } from '@weft/protocol';
import type { RawDelivery } from './schemes.ts';

/** A body that is not what a trigger takes. */
export class UnreadableDelivery extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableDelivery';
  }
}

/** What was delivered: JSON, or a form, whose field `payload` may hold JSON. Read only after the signature was verified. */
export function contentOf({ headers, body }: RawDelivery): Json {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!isUtf8(bytes)) throw new UnreadableDelivery('The body is not text in UTF-8.');
  const text = bytes.toString('utf8');
  const [type = ''] = (headers['content-type'] ?? 'application/json').split(';');
  switch (type.trim().toLowerCase()) {
    case 'application/json':
      return jsonOf(text);
    case 'application/x-www-form-urlencoded':
      return formOf(text);
    default:
      throw new UnreadableDelivery(
        'The body is neither application/json nor application/x-www-form-urlencoded.',
      );
  }
}

function jsonOf(text: string): Json {
  try {
    return parseStrictJson(text);
  } catch (error) {
    throw new UnreadableDelivery(
      `The body is not JSON: ${error instanceof Error ? error.message : 'it cannot be read'}`,
    );
  }
}

function formOf(text: string): Json {
  const fields = Object.fromEntries(new URLSearchParams(text));
  return fields['payload'] === undefined ? fields : jsonOf(fields['payload']);
}

const HIDDEN = /auth|cookie|secret|signature|token|key|password|credential/;
const SHOWN = /^(?:x-.+|content-type|user-agent|openwop-.+)$/;
const LONGEST_HEADER = 1_024;

/** Headers that a workflow may see: none that carries a credential. */
export function shownHeaders(headers: RawDelivery['headers']): JsonObject {
  const shown: JsonObject = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || value.length > LONGEST_HEADER) continue;
    if (SHOWN.test(name) && !HIDDEN.test(name)) shown[name] = value;
  }
  return shown;
}
