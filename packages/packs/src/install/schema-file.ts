import { compileClientSchema, createAllowance, isHostError, type JsonObject } from '@weft/protocol';
import { Type } from 'typebox';
import type { PackFiles } from '../archive/read-archive.ts';
import { documentReader } from '../closed-document.ts';
import { PackError } from '../pack-error.ts';
import { textAt } from './text-file.ts';

const readSchema = documentReader(Type.Object({}), 'The schema', 'schema_ref_missing');

/** The JSON object in a file of the pack. Throws `schema_ref_missing`. */
export function schemaAt(ref: string, place: string, files: PackFiles): JsonObject {
  return readSchema(textAt(ref, place, files, 'schema_ref_missing')) as JsonObject;
}

/** A schema that a host can hold values against, at a cost that is bounded. Throws `schema_ref_missing`. */
export function usableSchemaAt(ref: string, place: string, files: PackFiles): JsonObject {
  const schema = schemaAt(ref, place, files);
  try {
    compileClientSchema(schema, { allowance: createAllowance() });
    return schema;
  } catch (cause) {
    if (!isHostError(cause)) throw cause;
    throw new PackError('schema_ref_missing', `${place}: ${ref} cannot be used: ${cause.message}`, { cause });
  }
}
