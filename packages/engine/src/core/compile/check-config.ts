import {
  compileValidator,
  type JsonObject,
  type Problem,
  type Validator,
  type WorkBudget,
} from '@weft/protocol';
import type { NodeType } from '../../model/node-type.ts';

const validators = new WeakMap<NodeType, Validator>();

/** All that is wrong with a config. Throws HostError when a schema of a user costs more than the budget has. */
export function checkConfig(type: NodeType, config: JsonObject, budget: WorkBudget): readonly Problem[] {
  if (type.checkConfig !== undefined) return type.checkConfig(config, budget);
  let validator = validators.get(type);
  if (validator === undefined) {
    validator = compileValidator(type.config);
    validators.set(type, validator);
  }
  return validator(config);
}
