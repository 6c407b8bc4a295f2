import type { Json, JsonObject } from '@weft/protocol';
import { type EffectContext, NodeFailure, type Secrets } from '../model/node-type.ts';

/** Tools of servers that the operator has configured: `HostOptions.tools`. What they say of themselves is not to be trusted. */
export interface Tools {
  /** Names of the servers, in the order of the configuration. */
  readonly servers: readonly string[];
  /** Throws NodeFailure: `tool_server_unknown`, `tool_server_unavailable` (retryable). */
  list(server: string, context: ToolContext): Promise<readonly Tool[]>;
  /** Throws NodeFailure; a tool that answers with an error is a result. */
  call(call: ToolCall, context: ToolContext): Promise<ToolResult>;
  /** How a server is, for operators; absent where there is none. Throws NodeFailure `tool_server_unknown`. */
  status?(server: string): ToolServerStatus;
}

export interface ToolServerStatus {
  readonly transport: 'stdio' | 'http';
  /** `idle`: not used yet; `failed`: it is started again at the next use, once its backoff is over. */
  readonly state: 'idle' | 'starting' | 'ready' | 'failed' | 'stopped';
  readonly pid?: number;
  /** As the server calls itself. */
  readonly serverName?: string;
  readonly problem?: string;
  /** As last listed. */
  readonly tools?: readonly Tool[];
  /** What it lists and cannot be offered, each with the reason. */
  readonly leftOut?: readonly string[];
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
export interface ToolContext
  extends Pick<EffectContext, 'signal' | 'invocationId' | 'egress' | 'secrets' | 'holdsClaim'> {
  /** Secrets of the operator, not of the run's tenant: the host gives them. What they resolve is hidden as every secret is. */
  readonly operatorSecrets?: Secrets | undefined;
}

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
  /** By the operator's configuration, whatever the server says; absent: as `isDestructive`. */
  readonly needsApproval?: boolean;
}

export interface ToolCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Of the definition that the call was made for: with another one it is refused as `tool_changed`. */
  readonly digest?: string;
  /** At most what is configured for the server. */
  readonly timeoutMs?: number;
}

export interface ToolResult {
  /** Its parts in the form in which they are recorded and shown. */
  readonly content: readonly Json[];
  readonly structuredContent?: JsonObject;
  readonly isError: boolean;
}
