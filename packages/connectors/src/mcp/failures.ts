import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { EgressError, NodeFailure, type Tool } from '@weft/engine';
import { shownName } from '@weft/protocol';
import { NotSentError } from './call-scope.ts';
import { UNREADABLE_ANSWER } from './checked-transport.ts';
import { MCP_LIMITS } from './limits.ts';

/** Errors of sockets after which nothing of a request has reached the server. */
const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'connect_timeout',
  'resolve_timeout',
]);

export function unknownServer(server: string, known: readonly string[]): NodeFailure {
  const list = known.length === 0 ? 'none is' : `there are ${known.join(', ')}`;
  return new NodeFailure(
    'tool_server_unknown',
    `No tool server "${shownName(server)}" is configured on this host: ${list}. Servers are named under "mcpServers" in the host's config file.`,
  );
}

/** Nothing has been asked of a tool: trying again is safe. */
export function unavailable(
  server: string,
  problem: string,
  retryAfterMs?: number,
  cause?: unknown,
): NodeFailure {
  return new NodeFailure(
    'tool_server_unavailable',
    `The tool server "${server}" is not available: ${problem}`,
    {
      retryable: true,
      details: { server },
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      cause,
    },
  );
}

/** Why a server could not be started, or its tools not be listed. */
export function startFailure(server: string, error: unknown, problem: string | undefined): NodeFailure {
  if (error instanceof NodeFailure) return error;
  if (error instanceof EgressError && (error.problem === 'denied' || error.problem === 'invalid_request'))
    return new NodeFailure('egress_denied', error.message, { details: { server } });
  return unavailable(server, problem ?? messageOf(error), undefined, error);
}

/** Why a call has no result. `isSafe`: the same call twice is the same as once. */
export function callFailure(server: string, tool: Tool, error: unknown, problem?: string): NodeFailure {
  if (error instanceof NodeFailure) return error;
  if (error instanceof NotSentError) return unavailable(server, error.message);
  const isSafe = tool.isReadOnly || tool.isIdempotent;
  const lost = (code: string, message: string): NodeFailure =>
    new NodeFailure(
      code,
      isSafe
        ? message
        : `${message} Whether the tool has done its work is not known; look before you call it again.`,
      { retryable: isSafe, details: { server, tool: tool.name, outcome: 'unknown' } },
    );
  const name = `"${tool.name}" of "${server}"`;
  if (error instanceof EgressError) {
    if (UNREACHED.has(error.reason)) return unavailable(server, error.message);
    if (error.problem === 'denied' || error.problem === 'invalid_request')
      return new NodeFailure('egress_denied', error.message, { details: { server } });
    return lost('tool_connection_lost', `The tool ${name} did not answer: ${error.message}`);
  }
  if (error instanceof StreamableHTTPError) return statusFailure(server, name, error, lost);
  if (!(error instanceof McpError))
    return lost('tool_connection_lost', `The tool ${name} did not answer: ${problem ?? messageOf(error)}`);
  switch (error.code) {
    case ErrorCode.RequestTimeout as number:
      return lost('tool_timeout', `The tool ${name} did not answer in time.`);
    case ErrorCode.ConnectionClosed as number:
      return lost(
        'tool_connection_lost',
        `The tool ${name} did not answer: ${problem ?? 'the connection was closed.'}`,
      );
    case UNREADABLE_ANSWER:
      return lost('tool_protocol_error', `The answer of ${name} cannot be read. ${messageOf(error)}`);
    default:
      return new NodeFailure('tool_call_failed', `The tool ${name} refused the call: ${messageOf(error)}`, {
        details: { server, tool: tool.name, rpcCode: error.code },
      });
  }
}

function statusFailure(
  server: string,
  name: string,
  error: StreamableHTTPError,
  lost: (code: string, message: string) => NodeFailure,
): NodeFailure {
  const { code: status = 0 } = error;
  if (status === 429 || status === 503) return unavailable(server, `It answered with status ${status}.`);
  if (status >= 300 && status < 500) {
    return new NodeFailure('tool_call_failed', `The server of ${name} answered with status ${status}.`, {
      details: { server, status },
      cause: error,
    });
  }
  return lost('tool_connection_lost', `The server of ${name} answered with status ${status}.`);
}

/** A server's words are not to be trusted: bounded, and without what a terminal would obey. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return shownName(text.replace(/^MCP error -?\d+: /, '')).slice(0, MCP_LIMITS.messageLength);
}
