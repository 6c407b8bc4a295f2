import type { OfferedTool } from '../../ports/models.ts';
import { labelOf, type ListedTool } from './agent-history.ts';
import { untrusted } from './untrusted-text.ts';

/**
 * Tools under the names by which a model calls them, which every provider takes: letters, digits, `_` and `-`, at most 64 of them, the first a
 * letter or `_`. Each name stands for one tool.
 */
export function offeredTools(tools: readonly ListedTool[]): ReadonlyMap<string, ListedTool> {
  const offered = new Map<string, ListedTool>();
  for (const tool of tools) {
    const plain = legalName(`${tool.source ?? tool.server}__${tool.name}`);
    let name = plain;
    for (let count = 2; offered.has(name); count += 1) {
      const suffix = `_${count}`;
      name = plain.slice(0, MAX_NAME - suffix.length) + suffix;
    }
    offered.set(name, tool);
  }
  return offered;
}

function legalName(text: string): string {
  const plain = text.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return (/^[A-Za-z_]/.test(plain) ? plain : `_${plain}`).slice(0, MAX_NAME);
}

const MAX_NAME = 64;
const MAX_DESCRIPTION = 2048;

export function asOffered([name, tool]: readonly [string, ListedTool]): OfferedTool {
  const { source, server, description, inputSchema } = tool;
  return {
    name,
    inputSchema,
    ...(description !== undefined && {
      description: untrusted(
        description.slice(0, MAX_DESCRIPTION),
        `description by ${source === undefined ? server : labelOf(tool)}`,
      ),
    }),
  };
}
