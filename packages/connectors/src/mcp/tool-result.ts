import { NodeFailure, type ToolResult } from '@weft/engine';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { MCP_LIMITS } from './limits.ts';

/** The answer to `tools/call`, in the form in which it is recorded. */
export function readResult(result: JsonObject, tool: string): ToolResult {
  const { content = [], structuredContent, isError } = result;
  if (!Array.isArray(content) || !content.every(isJsonObject))
    throw new NodeFailure('tool_protocol_error', `The result of "${tool}" has no list of content.`);
  if (structuredContent !== undefined && !isJsonObject(structuredContent))
    throw new NodeFailure('tool_protocol_error', `The structured content of "${tool}" is no object.`);
  const read: ToolResult = {
    content: content.map(wellFormed),
    ...(structuredContent !== undefined && { structuredContent: wellFormed(structuredContent) }),
    isError: isError === true,
  };
  const bytes = Buffer.byteLength(JSON.stringify(read));
  if (bytes > MCP_LIMITS.resultBytes) {
    throw new NodeFailure(
      'output_too_large',
      `The result of "${tool}" takes ${bytes} bytes; at most ${MCP_LIMITS.resultBytes} can be recorded. Ask the tool for less.`,
      { details: { limit: MCP_LIMITS.resultBytes, observed: bytes } },
    );
  }
  return read;
}

/** Halves of surrogate pairs cannot be stored as UTF-8. */
function wellFormed<Value extends Json>(value: Value): Value;
function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item) => wellFormed(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), wellFormed(member)]),
  );
}
