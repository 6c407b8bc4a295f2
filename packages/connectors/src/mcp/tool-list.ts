import type { Tool, ToolContext } from '@weft/engine';
import { isJsonObject, type Json, type JsonObject, shownName } from '@weft/protocol';
import type { McpServer } from './config.ts';
import { unavailable } from './failures.ts';
import { MCP_LIMITS } from './limits.ts';
import { matchesAny } from './name-pattern.ts';
import type { Session } from './session.ts';
import { readTool } from './tool-definition.ts';

export interface ToolList {
  readonly tools: readonly Tool[];
  readonly leftOut: readonly string[];
  /** By the monotonic clock. */
  readonly at: number;
}

const MAX_LEFT_OUT = 20;

/** All pages, of what the configuration admits. A list that does not end makes the server unusable. */
export async function listTools(
  session: Session,
  server: McpServer,
  context: ToolContext,
): Promise<ToolList> {
  const tools = new Map<string, Tool>();
  const leftOut: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MCP_LIMITS.pages; page += 1) {
    const answer = await session.request('tools/list', cursor === undefined ? {} : { cursor }, {
      context,
      timeoutMs: MCP_LIMITS.listMs,
    });
    for (const listed of toolsOf(answer, server.name)) {
      if (
        isJsonObject(listed) &&
        typeof listed['name'] === 'string' &&
        !matchesAny(server.tools, listed['name'])
      )
        continue;
      const tool = readTool(listed);
      const why =
        typeof tool === 'string' ? tool : tools.has(tool.name) ? 'its name is listed twice' : undefined;
      if (why === undefined && typeof tool !== 'string') tools.set(tool.name, withApproval(tool, server));
      else if (leftOut.length < MAX_LEFT_OUT) leftOut.push(`${shownEntry(listed)}: ${why}`);
    }
    if (tools.size > MCP_LIMITS.tools)
      throw unavailable(
        server.name,
        `it lists more than ${MCP_LIMITS.tools} tools. Admit fewer with "tools".`,
      );
    cursor = nextCursor(answer);
    if (cursor === undefined) return { tools: [...tools.values()], leftOut, at: performance.now() };
  }
  throw unavailable(server.name, `its list of tools has more than ${MCP_LIMITS.pages} pages.`);
}

/** What the operator says goes before what the server says; where nothing is said, the tool's nature decides. */
function withApproval(tool: Tool, { approve }: McpServer): Tool {
  return approve === undefined ? tool : { ...tool, needsApproval: matchesAny(approve, tool.name) };
}

function toolsOf({ tools }: JsonObject, server: string): readonly Json[] {
  if (!Array.isArray(tools)) throw unavailable(server, 'its list of tools is no list.');
  return tools;
}

function nextCursor({ nextCursor }: JsonObject): string | undefined {
  return typeof nextCursor === 'string' ? nextCursor : undefined;
}

function shownEntry(listed: Json): string {
  const name = isJsonObject(listed) ? listed['name'] : undefined;
  return typeof name === 'string' ? `"${shownName(name.slice(0, 64))}"` : 'a tool without a name';
}
