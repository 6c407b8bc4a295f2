import type { JsonObject } from '../json/json.ts';
import type { WorkflowDefinition } from './workflow.ts';

/** What a workflow takes, as a JSON Schema: each of its variables, and no others. */
export function workflowInputSchema(variables: WorkflowDefinition['variables']): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(variables.map((variable) => [variable.name, propertyOf(variable)])),
    required: variables
      .filter(({ required, defaultValue }) => required === true && defaultValue === undefined)
      .map((variable) => variable.name),
    additionalProperties: false,
  };
}

function propertyOf({
  type,
  description,
  defaultValue,
}: WorkflowDefinition['variables'][number]): JsonObject {
  return {
    type,
    ...(description !== undefined && { description }),
    ...(defaultValue !== undefined && { default: defaultValue }),
  };
}
