import { compileValidator, fieldName, isHostError, parseStrictJson } from '@weft/protocol';
import type { Static, TSchema } from 'typebox';
import { type PackCode, PackError } from './pack-error.ts';

/** Reads a JSON file of one closed shape. Throws PackError with the code of that file, and names the field. */
export function documentReader<Schema extends TSchema>(
  schema: Schema,
  file: string,
  code: PackCode,
): (text: string) => Static<Schema> {
  const validate = compileValidator(schema);
  return (text) => {
    const value = parse(text);
    const [problem] = validate(value);
    if (problem === undefined) return value as Static<Schema>;
    const field = fieldName(problem.path);
    throw new PackError(
      code,
      `${file} is not valid${field === '' ? '' : ` at ${field}`}: ${problem.message}.`,
      { details: { field } },
    );
  };

  function parse(text: string): unknown {
    try {
      return parseStrictJson(text);
    } catch (cause) {
      if (!isHostError(cause)) throw cause;
      throw new PackError(code, `${file} cannot be read: ${cause.message}`, { cause });
    }
  }
}
