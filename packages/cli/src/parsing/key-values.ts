import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type HostError,
  type Json,
  type JsonObject,
  isHostError,
  isJsonObject,
  parseStrictJson,
} from '@weft/protocol/plain';
import { unusable, usageError } from '../exit-code.ts';

export interface GivenValues {
  readonly values: JsonObject;
  /** The text behind `name=` of the values that come from a pair. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * `name=value` pairs as one object. A value that is JSON is taken as JSON, anything else as a string; `@file` stands for
 * a whole object in a file. Later ones win over earlier ones.
 */
export async function readGivenValues(
  flag: string,
  given: readonly string[],
  cwd: string,
): Promise<GivenValues> {
  const values = new Map<string, Json>();
  const texts = new Map<string, string>();
  for (const pair of given) {
    if (pair.startsWith('@')) {
      const file = await readObjectFile(flag, resolve(cwd, pair.slice(1)));
      for (const [name, value] of Object.entries(file)) {
        values.set(name, value);
        texts.delete(name);
      }
    } else {
      const [name, text] = splitPair(flag, pair);
      values.set(name, parseValue(text));
      texts.set(name, text);
    }
  }
  return { values: Object.fromEntries(values), texts };
}

export async function readKeyValues(
  flag: string,
  given: readonly string[],
  cwd: string,
): Promise<JsonObject> {
  return (await readGivenValues(flag, given, cwd)).values;
}

function splitPair(flag: string, text: string): [string, string] {
  const equals = text.indexOf('=');
  if (equals < 1) {
    throw usageError(`--${flag} takes name=value or @file, not "${text}". Example: --${flag} count=3`);
  }
  return [text.slice(0, equals), text.slice(equals + 1)];
}

export function parseValue(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text; // not JSON, so it is the string it looks like
  }
}

async function readObjectFile(flag: string, path: string): Promise<JsonObject> {
  const value = await readJsonFile(path);
  if (!isJsonObject(value))
    throw unusable('bad_input_file', `${path} must hold a JSON object for --${flag}.`);
  return value;
}

/** Reads a JSON file; an error names the file and the line. */
export async function readJsonFile(path: string): Promise<Json> {
  return parseJsonText(path, await readTextFile(path));
}

/** The host's own rules: a duplicate key or a number that loses precision is found here already. */
export function parseJsonText(path: string, text: string): Json {
  try {
    return parseStrictJson(text);
  } catch (cause) {
    if (!isHostError(cause)) throw cause;
    throw unusable('not_json', `${path}${placeOf(text, cause)}: ${cause.message}`, cause);
  }
}

function placeOf(text: string, error: HostError): string {
  const position = error.details?.['position'];
  if (typeof position !== 'number') return '';
  const before = text.slice(0, position).split('\n');
  return `:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw unusable('file_unreadable', `${path} cannot be read: ${reasonOf(cause)}.`, cause);
  }
}

/** What the system says, in the words of a person. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'something of this name exists already',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
};

export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (Object.hasOwn(REASONS, code)) return REASONS[code] ?? code;
  return error instanceof Error ? error.message : String(error);
}
