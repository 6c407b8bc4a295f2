import { type ClientSchema, HostError, type Json, type Problem, type WorkBudget } from '@weft/protocol';
import { NodeFailure } from '../../model/node-type.ts';

/** What is wrong with the value, if anything. Where finding out costs too much, the node fails under the code that says so. */
export function firstProblem(schema: ClientSchema, value: Json, budget: WorkBudget): Problem | undefined {
  try {
    return schema(value, budget)[0];
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const { code, message, details } = error;
    throw new NodeFailure(code, message, details === undefined ? {} : { details });
  }
}
