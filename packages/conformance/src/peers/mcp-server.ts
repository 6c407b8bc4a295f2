import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { type PeerAnswer, type PeerRequest, startLoopbackServer } from './loopback-server.ts';

/** An MCP server with the one tool `echo`, which answers with the text it is given. JSON-RPC over POST, without sessions and streams. */
export interface McpServer {
  readonly address: string;
  /** Arguments of every call of `echo` so far. */
  readonly calls: readonly JsonObject[];
  stop(): Promise<void>;
}

const ECHO = {
  name: 'echo',
  description: 'Answers with the text it is given.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  },
};

/** The oldest are forgotten first. */
const MAX_CALLS = 1_000;

export async function startMcpServer(port: number): Promise<McpServer> {
  const calls: JsonObject[] = [];
  const server = await startLoopbackServer(port, (request) => {
    if (request.method !== 'POST') return { status: 405 };
    const message = messageOf(request);
    if (message === undefined) return answer(null, { error: { code: -32700, message: 'Not JSON.' } }, 400);
    const { id = null, method, params } = message;
    const given = isJsonObject(params ?? null) ? (params as JsonObject) : {};
    if (method === 'initialize') return answer(id, { result: initialized(given) });
    if (method === 'tools/list') return answer(id, { result: { tools: [ECHO] } });
    if (method !== 'tools/call') return answer(id, { error: { code: -32601, message: 'No such method.' } });
    const { name, arguments: args } = given;
    if (name !== 'echo' || !isJsonObject(args ?? null))
      return answer(id, { error: { code: -32602, message: 'No such tool.' } });
    calls.push(args as JsonObject);
    if (calls.length > MAX_CALLS) calls.shift();
    const text = String((args as JsonObject)['text']);
    return answer(id, { result: { content: [{ type: 'text', text }], isError: false } });
  });
  return { address: server.address, calls, stop: () => server.stop() };
}

function initialized({ protocolVersion }: JsonObject): JsonObject {
  return {
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : '2025-03-26',
    capabilities: { tools: {} },
    serverInfo: { name: 'weft-conformance-mcp', version: '1.0.0' },
  };
}

function answer(id: Json, content: JsonObject, status = 200): PeerAnswer {
  const body = JSON.stringify({ jsonrpc: '2.0', id, ...content });
  return { status, headers: { 'content-type': 'application/json' }, body };
}

function messageOf({ body }: PeerRequest): JsonObject | undefined {
  try {
    const message = JSON.parse(body.toString('utf8')) as Json;
    return isJsonObject(message) ? message : undefined;
  } catch {
    return undefined;
  }
}
