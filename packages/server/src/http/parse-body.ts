import { assertValid, compileValidator } from '@weft/protocol';
import type { Static, TSchema } from 'typebox';

/** A check made once per schema; what passes has the schema's type. Throws HostError `validation_error`. */
export function bodyParser<Schema extends TSchema>(schema: Schema): (body: unknown) => Static<Schema> {
  const validator = compileValidator(schema);
  return (body) => {
    assertValid(validator, body, 'The request body');
    return body as Static<Schema>;
  };
}
