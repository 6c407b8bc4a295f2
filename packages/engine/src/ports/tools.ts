import type { Json, JsonObject } from '@weft/protocol';
import { type EffectContext, NodeFailure } from '../model/node-type.ts';

/** Tools of servers that the operator has configured: `HostOptions.tools`. What they say of themselves is not to be trusted. */
export interface Tools {
  /** Names of the servers, in the order of the configuration. */
  readonly servers: readonly string[];
  /** Throws NodeFailure: `tool_server_unknown`, `tool_server_unavailable` (retryable). */
  list(server: string, context: ToolContext): Promise<readonly Tool[]>;
  /** Throws NodeFailure; a tool that answers with an error is a result. */
  call(call: ToolCall, context: ToolContext): Promise<ToolResult>;
}

export const NO_TOOLS: Tools = {
  servers: [],
  list: () => Promise.resolve([]),
  call: ({ server }) =>
    Promise.reject(
      new NodeFailure('tool_server_unknown', `No tool server "${server}" is configured on this host.`),
    ),
};

/** What a call may use of the effect that makes it. */
export type ToolContext = Pick<
  EffectContext,
  'signal' | 'invocationId' | 'egress' | 'secrets' | 'holdsClaim'
>;

export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  /** SHA-256 of name, description, schemas and hints: another one is another tool. */
  readonly digest: string;
  readonly isReadOnly: boolean;
  readonly isIdempotent: boolean;
  /** True where the server does not say that it is not, unless it only reads. */
  readonly isDestructive: boolean;
}

export interface ToolCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}

export interface ToolResult {
  /** Its parts in the form in which they are recorded and shown. */
  readonly content: readonly Json[];
  readonly structuredContent?: JsonObject;
  readonly isError: boolean;
}
