import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { createMcpTools, type McpTools, readMcpServers } from '../index.ts';

const SERVERS = fileURLToPath(
  new URL('../../../../../tools/mcp-servers/node_modules/@modelcontextprotocol', import.meta.url),
);

/** The entry of a published server in `mcpServers`. */
export function publishedServer(name: 'everything' | 'filesystem' | 'memory', ...args: string[]): JsonObject {
  return { command: process.execPath, args: [join(SERVERS, `server-${name}/dist/index.js`), ...args] };
}

/** The entry of a server that is a script of a test; `send`, `reply`, `tool` and `onRequest` are there. */
export function scriptedServer(script: string, more: JsonObject = {}): JsonObject {
  return { command: process.execPath, args: ['-e', PRELUDE + script], ...more };
}

const PRELUDE = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const reply = (id, result) => send({ id, result });
const tool = (name, more = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
let handle = {};
const onRequest = (handlers) => { handle = handlers; };
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (handle[method]) return handle[method](id, params);
  if (method === 'initialize')
    return reply(id, { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'scripted', version: '1' } });
  if (id !== undefined) send({ id, error: { code: -32601, message: 'unknown method' } });
}).on('close', () => process.exit(0));
`;

export interface LoggedLine {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export interface OpenedTools {
  readonly tools: McpTools;
  readonly lines: LoggedLine[];
}

export function openTools(mcpServers: JsonObject): OpenedTools {
  const lines: LoggedLine[] = [];
  const log: Log = (level, fields, message) => void lines.push({ level, fields, message });
  const tools = createMcpTools(readMcpServers(mcpServers), { log, version: '0.0.0', cwd: process.cwd() });
  return { tools, lines };
}

/** The published server over streamable HTTP, on a port of loopback. */
export async function httpServer(port: number): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const entry = join(SERVERS, 'server-everything/dist/index.js');
  const child = spawn(process.execPath, [entry, 'streamableHttp'], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (/listening/i.test(text)) resolve();
    });
    child.once('exit', () => reject(new Error(`The server has ended: ${text}`)));
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
