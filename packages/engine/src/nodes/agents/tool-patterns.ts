import { isName } from '@weft/protocol';

/**
 * What an agent's config says of tools: `mcp:SERVER/TOOL`, where `*` in the tool stands for any characters.
 */
export interface ToolPattern {
  readonly server: string;
  readonly tool: string;
}

const FORM = 'write mcp:SERVER/TOOL; "*" in TOOL stands for any characters';

/** Returns what is wrong with the text, in words, where it is no pattern. */
export function parseToolPattern(text: string): ToolPattern | string {
  const found = /^mcp:([^/*\s]+)\/(\S+)$/.exec(text);
  const [, server = '', tool = ''] = found ?? [];
  return found === null || !isName(text) ? `This names no tool: ${FORM}.` : { server, tool };
}

export function matchesTool(patterns: readonly ToolPattern[], server: string, tool: string): boolean {
  return patterns.some((pattern) => pattern.server === server && matchesName(pattern.tool, tool));
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
