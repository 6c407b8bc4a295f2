import { NodeFailure, type Tool } from '@weft/engine';
import {
  type ClientSchema,
  compileClientSchema,
  HostError,
  type JsonObject,
  WorkBudget,
} from '@weft/protocol';
import { MCP_LIMITS } from './limits.ts';

/** Schemas of servers are programs of strangers: interpreted, with every step counted. One is compiled once, by its digest. */
export function createArgumentCheck(): (tool: Tool, given: JsonObject) => void {
  const compiled = new Map<string, ClientSchema>();

  function schemaOf({ digest, inputSchema }: Tool): ClientSchema {
    const known = compiled.get(digest);
    if (known !== undefined) return known;
    // The dialects of servers differ in what arguments rarely use; nothing else is done with their names.
    const { $schema: _, ...schema } = inputSchema;
    const made = compileClientSchema(schema);
    if (compiled.size >= MCP_LIMITS.tools) compiled.clear();
    compiled.set(digest, made);
    return made;
  }

  return (tool, given) => {
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
  };
}

function misfit(tool: Tool, path: string, message: string): NodeFailure {
  const field = `arguments${path.replaceAll('/', '.')}`;
  return new NodeFailure('validation_error', `${field} of "${tool.name}": ${message}`, {
    details: { field, tool: tool.name },
  });
}
