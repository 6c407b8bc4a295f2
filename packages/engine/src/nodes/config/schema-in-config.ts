import { HostError, isJsonObject, type Json } from '@weft/protocol';
import type { PrepareTools } from '../../model/node-type.ts';

/** A schema that answers will be held against: what is wrong with it, or too large, refuses the definition at `path`. */
export function checkSchema(tools: PrepareTools, path: string, schema: Json | undefined): void {
  if (!isJsonObject(schema)) return;
  try {
    tools.schemas.schema(schema);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const { message, code, details } = error;
    tools.refuse(path, message, code === 'validation_error' ? undefined : { code, details });
  }
}
