import { createHash } from 'node:crypto';
import type { Tool } from '@weft/engine';
import { canonicalJson, isJsonObject, isName, type Json, type JsonObject } from '@weft/protocol';
import { MCP_LIMITS } from './limits.ts';

const MAX_NAME = 128;

/** What a server lists as a tool; a text says why it cannot be offered. What it claims of itself is only read, never obeyed. */
export function readTool(listed: Json): Tool | string {
  if (!isJsonObject(listed)) return 'its entry is no object';
  const { name, description, inputSchema, outputSchema, annotations } = listed;
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME || !isName(name))
    return `its name is not a text of 1 to ${MAX_NAME} characters without control characters`;
  if (!isJsonObject(inputSchema)) return 'it has no input schema';
  const hints = isJsonObject(annotations) ? annotations : {};
  const definition = present({ name, description, inputSchema, outputSchema, annotations });
  const text = canonical(definition);
  if (text === undefined) return 'its definition holds text that is not Unicode';
  if (Buffer.byteLength(text) > MCP_LIMITS.definitionBytes)
    return `its definition takes more than ${MCP_LIMITS.definitionBytes} bytes`;
  const isReadOnly = hints['readOnlyHint'] === true;
  return {
    name,
    ...(typeof description === 'string' && {
      description: description.slice(0, MCP_LIMITS.descriptionLength),
    }),
    inputSchema,
    digest: createHash('sha256').update(text).digest('hex'),
    isReadOnly,
    isIdempotent: isReadOnly || hints['idempotentHint'] === true,
    isDestructive: !isReadOnly && hints['destructiveHint'] !== false,
  };
}

function canonical(definition: JsonObject): string | undefined {
  try {
    return canonicalJson(definition);
  } catch {
    return undefined;
  }
}

function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  const given: JsonObject = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) given[name] = value;
  return given;
}
