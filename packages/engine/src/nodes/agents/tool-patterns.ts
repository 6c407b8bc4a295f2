import { isName, type JsonObject } from '@weft/protocol';

/**
 * What an agent's config says of tools: `mcp:SERVER/TOOL`, `node:TYPEID` (with `@VERSION`, once it is registered) or `workflow:ID`. `*` in
 * the last part stands for any characters; of nodes and workflows it may only say which of them need an approval.
 */
export interface ToolPattern {
  readonly source: ToolSource;
  /** Of MCP. */
  readonly server: string;
  /** Name of the tool, type id or workflow id. */
  readonly tool: string;
  /** Of a node type that workers serve. */
  readonly version?: string | undefined;
}

export type ToolSource = 'mcp' | 'node' | 'workflow';

/** What a pattern is held against. */
export interface NamedTool {
  readonly source?: 'node' | 'workflow';
  readonly server: string;
  readonly name: string;
}

const FORM =
  'write mcp:SERVER/TOOL, where "*" in TOOL stands for any characters, node:TYPEID or workflow:WORKFLOW_ID';

/** Returns what is wrong with the text, in words, where it is no pattern. */
export function parseToolPattern(text: string): ToolPattern | string {
  const [, kind = '', server = '', tool = '', version] =
    /^(mcp):([^/*\s]+)\/(\S+)$/.exec(text) ?? /^(node|workflow):()([^@\s]+)(?:@(\S+))?$/.exec(text) ?? [];
  if (kind === '' || !isName(text) || (kind === 'workflow' && version !== undefined))
    return `This names no tool: ${FORM}.`;
  return { source: kind as ToolSource, server, tool, ...(version !== undefined && { version }) };
}

export function matchesTool(patterns: readonly ToolPattern[], named: NamedTool): boolean {
  const { source = 'mcp', server, name } = named;
  return patterns.some(
    (pattern) => pattern.source === source && pattern.server === server && matchesName(pattern.tool, name),
  );
}

/** Whether all that a pattern stands for is among the others: a `*` in it is a character that only a `*` of theirs takes in. */
export function covers(patterns: readonly ToolPattern[], { source, server, tool }: ToolPattern): boolean {
  return patterns.some(
    (pattern) => pattern.source === source && pattern.server === server && matchesName(pattern.tool, tool),
  );
}

/** The node types among the tools, each with the version that `versionOf` says. */
export function pinTools(
  config: JsonObject,
  versionOf: (typeId: string, written: string | undefined) => string | undefined,
): JsonObject {
  const { tools } = config;
  if (!Array.isArray(tools)) return config;
  const pinned = tools.map((text) => {
    const pattern = typeof text === 'string' ? parseToolPattern(text) : '';
    if (typeof pattern === 'string' || pattern.source !== 'node') return text;
    const version = versionOf(pattern.tool, pattern.version);
    return version === undefined ? text : `node:${pattern.tool}@${version}`;
  });
  return { ...config, tools: pinned };
}

/** Piece by piece, each at the first place where it fits: no text makes this slow. */
function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
