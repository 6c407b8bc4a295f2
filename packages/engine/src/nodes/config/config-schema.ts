import { type JsonObject, nameOf } from '@weft/protocol';
import { Type, type TObject, type TProperties } from 'typebox';

/** Config schemas are closed: an unknown key is a typo, and refuses the definition. */
export function closedConfig<P extends TProperties>(properties: P): TObject<P> {
  return Type.Object(properties, { additionalProperties: false });
}

export const noConfig = closedConfig({});

/** JSON of which nothing is known but that it is an object. */
export const jsonObject = Type.Unsafe<JsonObject>({ type: 'object' });

/** An id, name, tag or code that a definition brings. */
export const name = nameOf({ minLength: 1 });
