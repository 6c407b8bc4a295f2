import { isJsonObject, isName, type Json, type JsonObject } from '@weft/protocol';
import { type Artifacts, NodeFailure } from '../../model/node-type.ts';
import type { ModelImage } from '../../ports/models.ts';

/**
 * Images that go to a model with its prompt: artifacts of the run, named on the port `images` by their ids or by the references that other
 * nodes put out. Nothing is fetched from elsewhere.
 */

const MAX_IMAGES = 8;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_ID = 512;

/** How a file of the type begins: what an artifact calls itself is not enough. */
const SIGNATURES: Readonly<Record<string, RegExp>> = {
  'image/png': /^\x89PNG\r\n\x1a\n/,
  'image/jpeg': /^\xff\xd8\xff/,
  'image/gif': /^GIF8[79]a/,
  'image/webp': /^RIFF[\s\S]{4}WEBP/,
};
const SIGNATURE_BYTES = 12;

/** Ids of artifacts. Throws NodeFailure for anything else. */
export function imagesIn({ images }: JsonObject): readonly string[] {
  if (images === undefined || images === null) return [];
  const listed = Array.isArray(images) ? images : [images];
  if (listed.length > MAX_IMAGES) {
    throw refused(`The port "images" takes at most ${MAX_IMAGES} images, not ${listed.length}.`);
  }
  return listed.map((entry, index) => {
    const id = idOf(entry);
    if (id !== undefined) return id;
    throw refused(`images.${index} must be the id of an artifact, or a reference with artifactId.`);
  });
}

function idOf(entry: Json): string | undefined {
  const id = isJsonObject(entry) ? entry['artifactId'] : entry;
  return typeof id === 'string' && id !== '' && id.length <= MAX_ID && isName(id) ? id : undefined;
}

export async function loadImages(
  ids: readonly string[],
  artifacts: Pick<Artifacts, 'read'>,
): Promise<ModelImage[]> {
  const images: ModelImage[] = [];
  let total = 0;
  for (const id of ids) {
    const { mediaType, bytes } = await artifacts.read(id, MAX_IMAGE_BYTES);
    total += bytes.length;
    if (total > MAX_BYTES) throw refused(`The images of a prompt may have ${MAX_BYTES} bytes together.`);
    const start = Buffer.from(bytes.subarray(0, SIGNATURE_BYTES)).toString('latin1');
    if (SIGNATURES[mediaType]?.test(start) !== true) {
      const known = Object.keys(SIGNATURES).join(', ');
      throw refused(`The artifact "${id}" is no image that a model takes: those are ${known}.`);
    }
    images.push({ mediaType, bytes });
  }
  return images;
}

function refused(message: string): NodeFailure {
  return new NodeFailure('image_invalid', message, { details: { field: 'images' } });
}
