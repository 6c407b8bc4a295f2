import { resolve } from 'node:path';
import type { ReadOptions } from '@weft/evidence/node';
import { usageError } from '../../exit-code.ts';
import type { Io } from '../../io.ts';

/** Flags of every command that reads runs. */
export const READ_ARGS = {
  lenient: {
    type: 'boolean',
    description:
      'Accept ./ names, upper-case digests, trailing bytes and a plain tar named .tar.gz; each is noted',
  },
  'max-bytes': {
    type: 'string',
    valueHint: 'BYTES',
    description: 'Reject runs larger than this after decompression (default 1 GiB)',
  },
} as const;

/** Flags of every command that makes a diff. */
export const DIFF_ARGS = {
  ...READ_ARGS,
  output: {
    type: 'string',
    alias: 'o',
    valueHint: 'FILE',
    description: 'Write the document here instead of to stdout',
  },
  html: { type: 'string', valueHint: 'FILE', description: 'Also write a report as one HTML file' },
  view: { type: 'boolean', description: 'Print a report for people instead of the document' },
  require: {
    type: 'enum',
    options: ['clean'] as string[],
    description: 'Exit with 4 unless the evidence is clean; says nothing about the differences',
  },
  'emit-failed': {
    type: 'boolean',
    description:
      'Write a document with status failed when the evidence cannot be compared; still exits with 3',
  },
} as const;

/** What the caller declares for a cross-runtime diff. Nothing of it is ever guessed. */
export const DECLARED_ARGS = {
  'base-runtime': { type: 'string', valueHint: 'ID', description: 'Runtime of the base run' },
  'head-runtime': { type: 'string', valueHint: 'ID', description: 'Runtime of the head run' },
  'base-prefix': {
    type: 'string',
    valueHint: 'DIR/',
    description: 'Work dir of the base run, with a slash at the end',
  },
  'head-prefix': {
    type: 'string',
    valueHint: 'DIR/',
    description: 'Work dir of the head run, with a slash at the end',
  },
} as const;

type ReadFlags = { readonly lenient?: boolean | undefined; readonly 'max-bytes'?: string | undefined };

export function readOptions(flags: ReadFlags): ReadOptions {
  const text = flags['max-bytes'];
  if (text !== undefined && !/^[1-9]\d{0,14}$/.test(text))
    throw usageError(`--max-bytes takes a number of bytes, not "${text}".`);
  const limits = text === undefined ? {} : { inflated: Number(text), file: Number(text) };
  return { limits, lenient: flags.lenient === true };
}

/** The file to write, or a refusal: an input is never written over. */
export async function outputPath(
  io: Io,
  flag: string,
  given: string | undefined,
  inputs: readonly string[],
): Promise<string | undefined> {
  if (given === undefined) return undefined;
  const path = resolve(io.cwd, given);
  const { outputConflict } = await import('@weft/evidence/node');
  const conflict = outputConflict(path, inputs);
  if (conflict !== undefined) throw usageError(`${flag}: ${conflict}. Choose another place.`);
  return path;
}
