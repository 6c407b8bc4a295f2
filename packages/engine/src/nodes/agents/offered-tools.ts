import type { OfferedTool } from '../../ports/models.ts';
import type { ListedTool } from './agent-history.ts';
import { untrusted } from './untrusted-text.ts';

/** Tools under the names by which a model calls them: letters, digits, `_` and `-`, at most 64 of them, each once. */
export function offeredTools(tools: readonly ListedTool[]): ReadonlyMap<string, ListedTool> {
  const offered = new Map<string, ListedTool>();
  for (const tool of tools) {
    const plain = `${tool.server}__${tool.name}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME);
    let name = plain;
    for (let count = 2; offered.has(name); count += 1) {
      const suffix = `_${count}`;
      name = plain.slice(0, MAX_NAME - suffix.length) + suffix;
    }
    offered.set(name, tool);
  }
  return offered;
}

const MAX_NAME = 64;
const MAX_DESCRIPTION = 2048;

export function asOffered([name, { server, description, inputSchema }]: readonly [
  string,
  ListedTool,
]): OfferedTool {
  return {
    name,
    inputSchema,
    ...(description !== undefined && {
      description: untrusted(description.slice(0, MAX_DESCRIPTION), `description by ${server}`),
    }),
  };
}
