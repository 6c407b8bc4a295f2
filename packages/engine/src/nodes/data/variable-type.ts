import type { Json } from '@weft/protocol';
import { NodeFailure } from '../../model/node-type.ts';

/** Why the variable cannot have the value; undefined when it can. One that is not declared can have any. */
export function variableMisfit(name: string, type: string | undefined, value: Json): NodeFailure | undefined {
  if (type === undefined || jsonType(value) === type) return undefined;
  return new NodeFailure(
    'variable_type_mismatch',
    `The variable "${name}" is declared as ${type}, but the value is ${jsonType(value)}.`,
    { details: { variable: name, declared: type, observed: jsonType(value) } },
  );
}

/** The word a variable declaration uses for the type of this value; `null` fits none of them. */
export function jsonType(value: Json): 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object') return 'object';
  if (typeof value === 'string') return 'string';
  return typeof value === 'number' ? 'number' : 'boolean';
}
