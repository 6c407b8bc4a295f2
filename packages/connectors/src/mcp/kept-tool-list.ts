import type { Log, Tool, ToolContext } from '@weft/engine';
import type { McpServer } from './config.ts';
import { startFailure } from './failures.ts';
import { MCP_LIMITS } from './limits.ts';
import type { Session } from './session.ts';
import { listTools, type ToolList } from './tool-list.ts';

/** The tools of a server as it last listed them; asked for again when it says that they have changed, and after a minute. */
export interface KeptToolList {
  of(session: Session, context: ToolContext): Promise<readonly Tool[]>;
  /** The next use asks again. */
  forget(): void;
  last(): Partial<Omit<ToolList, 'at'>>;
}

export function createKeptToolList(server: McpServer, log: Log): KeptToolList {
  let list: ToolList | undefined;
  let isStale = true;
  let listing: Promise<ToolList> | undefined;

  function isFresh(): boolean {
    return list !== undefined && !isStale && performance.now() - list.at < MCP_LIMITS.listAgeMs;
  }

  async function ask(session: Session, context: ToolContext): Promise<ToolList> {
    isStale = false;
    try {
      const listed = await listTools(session, server, context);
      if (list !== undefined) noteChanges(list, listed);
      list = listed;
      return listed;
    } catch (error) {
      isStale = true;
      throw startFailure(server.name, error, session.isOpen() ? undefined : session.problem());
    }
  }

  function noteChanges(before: ToolList, after: ToolList): void {
    for (const { name, digest } of after.tools) {
      const known = before.tools.find((other) => other.name === name);
      if (known === undefined || known.digest === digest) continue;
      const fields = { server: server.name, tool: name, digest, before: known.digest };
      log('warn', fields, 'mcp: a tool has another definition now');
    }
  }

  return {
    async of(session, context) {
      if (list !== undefined && isFresh()) return list.tools;
      listing ??= ask(session, context).finally(() => {
        listing = undefined;
      });
      return (await listing).tools;
    },
    forget() {
      isStale = true;
    },
    last: () => (list === undefined ? {} : { tools: list.tools, leftOut: list.leftOut }),
  };
}
