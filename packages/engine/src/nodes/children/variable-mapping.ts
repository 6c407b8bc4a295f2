import { isJsonObject, type Json, type JsonObject, mapOf } from '@weft/protocol';
import type { NodeInput } from '../../model/node-type.ts';
import { name } from '../config/config-schema.ts';

/** Names on the left are set from names on the right. */
export const variableMapping = mapOf<string>(name);

export type VariableMapping = Readonly<Record<string, string>>;

/** The names that a mapping sets, also of a config that is not checked yet. */
export function mappedNames(mapping: Json | undefined): readonly string[] {
  return isJsonObject(mapping) ? Object.keys(mapping) : [];
}

/** A child's inputs: child variable ← parent variable. One that the parent has not set is not given at all. */
export function mappedInputs(mapping: VariableMapping, variables: NodeInput['variables']): JsonObject {
  const entries: [string, Json][] = [];
  for (const [target, source] of Object.entries(mapping)) {
    const value = variables.get(source);
    if (value !== undefined) entries.push([target, value]);
  }
  return Object.fromEntries(entries);
}
