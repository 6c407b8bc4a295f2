import { runCooperatively } from '@weft/engine';
import { isJsonObject, type JsonObject, type MessageShape, strictJsonInSteps } from '@weft/protocol';
import { LARGE_BODY } from '../http/read-json.ts';
import { type Document, type EncodeOptions, encodeMessage, tooLarge } from './codec/encode-message.ts';

/** Answers may be nested deeper than requests: what was sent at its deepest is inside them. */
const MAX_DEPTH = 256;

/** JSON text as the message that mirrors it, made in turns with other requests where it is long. */
export async function messageOf(
  tenant: string,
  shape: MessageShape,
  text: string,
  options: EncodeOptions,
): Promise<Buffer> {
  const document =
    text.length <= LARGE_BODY
      ? (JSON.parse(text) as JsonObject)
      : await runCooperatively(tenant, strictJsonInSteps(text, { maxDepth: MAX_DEPTH }));
  if (!isJsonObject(document)) throw new Error(`${shape.name} is made of an object.`);
  return encoded(tenant, shape, document, options);
}

export function encoded(
  tenant: string,
  shape: MessageShape,
  document: Document,
  options: EncodeOptions,
): Promise<Buffer> {
  return runCooperatively(tenant, encodeMessage(shape, document, options));
}

/** JSON is rarely twice as long as the message that mirrors it. */
const JSON_TO_MESSAGE = 2;

/** Text that comes in pieces, as long as a message can hold it. Throws HostError `answer_too_large`. */
export async function collected(pieces: AsyncIterable<string>, maxBytes: number): Promise<string> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length > maxBytes * JSON_TO_MESSAGE) throw tooLarge(maxBytes);
  }
  return text;
}
