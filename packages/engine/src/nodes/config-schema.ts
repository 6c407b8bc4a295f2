import { Type, type TObject, type TProperties } from 'typebox';

/** Config schemas are closed: an unknown key is a typo, and refuses the definition. */
export function closedConfig<P extends TProperties>(properties: P): TObject<P> {
  return Type.Object(properties, { additionalProperties: false });
}

export const noConfig = closedConfig({});
