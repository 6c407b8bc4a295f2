import {
  type ClientSchema,
  compileClientSchema,
  HostError,
  type JsonObject,
  WorkBudget,
} from '@weft/protocol';
import { NodeFailure } from '../../model/node-type.ts';
import type { Tool } from '../../ports/tools.ts';

/**
 * Holds arguments against the schema of a tool. It is a program of a stranger: interpreted, with every step counted. Throws
 * NodeFailure `validation_error` with the field, or `tool_schema_unusable`.
 */
export function checkArguments(tool: Tool, given: JsonObject): void {
  try {
    const [first] = schemaOf(tool)(given, new WorkBudget());
    if (first !== undefined) throw misfit(tool, first.path, first.message);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new NodeFailure(
      'tool_schema_unusable',
      `The arguments of "${tool.name}" cannot be checked, because its schema is not usable: ${error.message}`,
      { cause: error },
    );
  }
}

/** The dialects that servers name differ in what arguments rarely use; the name alone refuses no tool. */
function schemaOf({ inputSchema }: Tool): ClientSchema {
  const { $schema: _, ...schema } = inputSchema;
  return compileClientSchema(schema);
}

function misfit(tool: Tool, path: string, message: string): NodeFailure {
  const field = `arguments${path.replaceAll('/', '.')}`;
  return new NodeFailure('validation_error', `${field} of "${tool.name}": ${message}`, {
    details: { field, tool: tool.name },
  });
}
