import { endpointOf, type Json, type JsonObject } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import { type ListPromise, wholeList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** A tool as its server describes it. */
export interface ToolEntry {
  readonly name: string;
  readonly description?: string;
  /** SHA-256 of the definition: another one is another tool. */
  readonly digest: string;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly destructive: boolean;
  /** A person agrees to each call of a run. */
  readonly needsApproval: boolean;
  readonly inputSchema: JsonObject;
}

/** An MCP server of the host's config file. */
export interface ToolServerEntry {
  readonly name: string;
  readonly transport: 'stdio' | 'http';
  readonly state: 'idle' | 'starting' | 'ready' | 'failed' | 'stopped';
  readonly serverName?: string;
  readonly problem?: string;
  /** As last listed. */
  readonly tools?: readonly ToolEntry[];
  /** What it lists and cannot be offered. */
  readonly leftOut?: readonly string[];
}

export interface ToolServerTest {
  readonly server: ToolServerEntry;
  readonly tookMs: number;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface ToolOutcome {
  readonly result?: {
    readonly content: readonly Json[];
    readonly structuredContent?: JsonObject;
    /** The tool itself says that it has failed. */
    readonly isError: boolean;
  };
  readonly error?: { readonly code: string; readonly message: string };
  readonly tookMs: number;
}

export interface ToolServers {
  list(): ListPromise<ToolServerEntry>;
  /** Starts the server if it does not run, and lists its tools. */
  test(server: string): ApiPromise<ToolServerTest>;
  /** Calls a tool outside of any run. */
  call(server: string, tool: string, given?: JsonObject): ApiPromise<ToolOutcome>;
}

export function createToolServers(transport: Transport): ToolServers {
  return {
    list: () => wholeList(transport, endpointOf('listToolServers'), 'servers', {}),
    test: (server) => transport.json(endpointOf('testToolServer', { server })),
    call: (server, tool, given = {}) =>
      transport.json(endpointOf('callTool', { server }), { body: { tool, arguments: given } }),
  };
}
