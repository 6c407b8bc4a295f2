import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { isHostError, isJsonObject, type Json, type JsonObject, parseStrictJson } from '@weft/protocol/plain';
import { CliError, EXIT, unusable } from '../exit-code.ts';
import { reasonOf } from '../parsing/key-values.ts';

/** Hosts keep bundles to 8 MiB; some let them grow. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A bundle from a file, plain or gzipped; what it says about itself is for the reader to check. */
export async function readBundleFile(cwd: string, file: string): Promise<JsonObject> {
  const bytes = await read(resolve(cwd, file), file);
  const document = parse(unpack(bytes, file), file);
  if (!isJsonObject(document)) throw unusable('bundle_invalid', `${file} is not a debug bundle.`);
  return document;
}

async function read(path: string, file: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES) throw tooLarge(file);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw unusable('file_unreadable', `${file} cannot be read: ${reasonOf(cause)}.`, cause);
  }
}

/** Known by its first bytes, whatever the file is called. */
function unpack(bytes: Buffer, file: string): string {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString('utf8');
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES }).toString('utf8');
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(file);
    throw unusable('bundle_invalid', `${file} is not whole gzip data.`, cause);
  }
}

function parse(text: string, file: string): Json {
  try {
    return parseStrictJson(text);
  } catch (cause) {
    throw asCliError(cause, file);
  }
}

/** What the host would say about the bundle, with the file's name. */
export function asCliError(cause: unknown, file: string): unknown {
  if (!isHostError(cause)) return cause;
  const details = cause.details === undefined ? {} : { details: cause.details };
  return new CliError(EXIT.unusable, 'bundle_invalid', `${file}: ${cause.message}`, { ...details, cause });
}

function tooLarge(file: string): CliError {
  return unusable(
    'bundle_invalid',
    `${file} is larger than ${MAX_BYTES / 1024 / 1024} MiB, too large for a bundle.`,
  );
}
