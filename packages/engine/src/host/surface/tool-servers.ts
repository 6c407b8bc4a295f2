import type { CallToolRequest, ToolOutcome, ToolServerDocument, ToolServerTest } from '@weft/protocol';
import type { Caller } from './caller.ts';

/** Servers whose tools nodes may call, as the operator has configured them. */
export interface ToolServers {
  list(caller: Caller): readonly ToolServerDocument[];
  /** Starts it if it does not run; undefined when there is none of this name. */
  test(caller: Caller, server: string): Promise<ToolServerTest | undefined>;
  /** Calls a tool outside of any run, on record in the audit log; undefined as above. */
  call(caller: Caller, server: string, request: CallToolRequest): Promise<ToolOutcome | undefined>;
}
