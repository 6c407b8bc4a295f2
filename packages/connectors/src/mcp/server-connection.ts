import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Log, Tool, ToolCall, ToolContext, ToolResult } from '@weft/engine';
import { checkArguments, NodeFailure } from '@weft/engine';
import type { McpServer } from './config.ts';
import { callFailure, unavailable } from './failures.ts';
import { MCP_LIMITS } from './limits.ts';
import { type Credentials, openSession, resolveCredentials, type Session } from './session.ts';
import { createKeptToolList } from './kept-tool-list.ts';
import { readResult } from './tool-result.ts';

/**
 * One configured server, begun when it is first used and begun again after it has ended.
 *
 *   idle ──use──► starting ──► ready ──ended, or other secrets──► idle
 *     ▲              │
 *     └───failed─────┘  not again before the backoff is over
 *
 * M-4. A server has at most one session, and so at most one process, at a time.
 * M-5. After a failed start the next one waits: a second at first, twice as long each time, a minute at most. An answer ends the row.
 * M-6. At most so many calls of a server are open at a time; the others wait, in order.
 * M-11. A call is sent once, whatever is answered: only before it is the server asked whether it knows the session.
 * M-7. A call is sent only for a tool that the configuration admits and the server lists, with arguments that fit its schema.
 */
export interface ServerConnection {
  list(context: ToolContext): Promise<readonly Tool[]>;
  call(call: ToolCall, context: ToolContext): Promise<ToolResult>;
  status(): ServerStatus;
  stop(): Promise<void>;
}

export interface ServerStatus {
  readonly state: 'idle' | 'starting' | 'ready' | 'failed' | 'stopped';
  readonly pid?: number;
  readonly serverName?: string;
  readonly problem?: string;
  /** As last listed. */
  readonly tools?: readonly Tool[];
  /** What the server lists and cannot be offered. */
  readonly leftOut?: readonly string[];
}

export interface ConnectionOptions {
  readonly log: Log;
  readonly version: string;
  /** Of processes whose entry names none. */
  readonly cwd: string;
}

type Phase =
  | { readonly kind: 'idle' | 'stopped' }
  | { readonly kind: 'starting'; readonly session: Promise<Session> }
  | { readonly kind: 'ready'; readonly session: Session };

export function createServerConnection(server: McpServer, options: ConnectionOptions): ServerConnection {
  const { name } = server;
  const { log } = options;
  const slots = createSlots(name);
  let phase: Phase = { kind: 'idle' };
  let failures = 0;
  let notBefore = 0;
  let problem: string | undefined;
  const list = createKeptToolList(server, log);

  async function use(context: ToolContext): Promise<Session> {
    const credentials = await resolveCredentials(server, context.operatorSecrets);
    if (phase.kind === 'ready' && !isSame(phase.session.credentials, credentials)) await close(phase.session);
    if (phase.kind === 'stopped') throw unavailable(name, 'the host is stopping.');
    if (phase.kind === 'ready') return phase.session;
    if (phase.kind === 'starting') return await phase.session;
    const waitMs = Math.ceil(notBefore - performance.now());
    if (waitMs > 0) throw unavailable(name, problem ?? 'it failed.', waitMs);
    const session = start(credentials, context);
    phase = { kind: 'starting', session };
    return await session;
  }

  async function start(credentials: Credentials, context: ToolContext): Promise<Session> {
    list.forget();
    let opened: Session | undefined;
    try {
      const session = await openSession(server, credentials, context, {
        ...options,
        onToolsChanged: list.forget,
        onClosed: () => {
          if (opened !== undefined) ended(opened);
        },
      });
      opened = session;
      if (!session.isOpen()) throw unavailable(name, session.problem() ?? 'it ended at once.');
      if (isStopped()) {
        await session.close();
        throw unavailable(name, 'the host is stopping.');
      }
      phase = { kind: 'ready', session };
      problem = undefined;
      log('info', { server: name, pid: session.pid }, 'mcp: server started');
      return session;
    } catch (error) {
      if (!isStopped()) phase = { kind: 'idle' };
      backOff(error instanceof NodeFailure ? error.message : 'it could not be started.');
      throw error;
    }
  }

  function isStopped(): boolean {
    return phase.kind === 'stopped';
  }

  function ended(session: Session): void {
    if (phase.kind !== 'ready' || phase.session !== session) return;
    phase = { kind: 'idle' };
    backOff(session.problem() ?? 'the connection was closed.');
  }

  function backOff(why: string): void {
    const waitMs = Math.min(MCP_LIMITS.firstBackoffMs * 2 ** failures, MCP_LIMITS.maxBackoffMs);
    failures += 1;
    problem = why;
    notBefore = performance.now() + waitMs;
    log('warn', { server: name, waitMs, problem: why }, 'mcp: server is not available');
  }

  /** On purpose: no reason to wait before the next one. */
  async function close(session: Session): Promise<void> {
    if (phase.kind === 'ready' && phase.session === session) phase = { kind: 'idle' };
    await session.close();
  }

  /** Of work that may be done twice: a server that has forgotten the session is asked again in a new one, once. */
  async function inSession<Result>(
    context: ToolContext,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result> {
    const session = await use(context);
    try {
      return await work(session);
    } catch (error) {
      if (!isForgotten(error)) throw error;
      await close(session);
      return await work(await use(context));
    }
  }

  /** A session in which the server still answers, so that a call need not find out. */
  async function openForCall(session: Session, context: ToolContext): Promise<Session> {
    if (server.reach.kind === 'stdio') return session;
    try {
      await session.request('ping', {}, { context, timeoutMs: PING_MS });
    } catch (error) {
      const cause = callFailure(name, PING, error);
      if (isForgotten(cause)) throw cause;
    }
    return session;
  }

  async function call(session: Session, request: ToolCall, context: ToolContext): Promise<ToolResult> {
    const tools = await list.of(session, context);
    const tool = tools.find((known) => known.name === request.tool);
    if (tool === undefined) throw unknownTool(request);
    if (request.digest !== undefined && request.digest !== tool.digest) throw changedTool(request);
    checkArguments(tool, request.arguments);
    const _meta = { 'weft/invocationId': context.invocationId };
    try {
      const result = await session.request(
        'tools/call',
        { name: tool.name, arguments: request.arguments, _meta },
        { context, timeoutMs: Math.min(request.timeoutMs ?? server.timeoutMs, server.timeoutMs) },
      );
      failures = 0;
      return readResult(result, tool.name);
    } catch (error) {
      const failure = callFailure(name, tool, error, session.isOpen() ? undefined : session.problem());
      if (isForgotten(failure)) await close(session);
      throw failure;
    }
  }

  return {
    list: (context) => inSession(context, (session) => list.of(session, context)),
    call: (request, context) =>
      slots.take(async () => {
        const session = await inSession(context, (opened) => openForCall(opened, context));
        return await call(session, request, context);
      }),
    status() {
      const state = phase.kind === 'idle' && problem !== undefined ? 'failed' : phase.kind;
      const session = phase.kind === 'ready' ? phase.session : undefined;
      return {
        state,
        ...(session?.pid !== undefined && { pid: session.pid }),
        ...(session?.serverName !== undefined && { serverName: session.serverName }),
        ...(state === 'failed' && problem !== undefined && { problem }),
        ...list.last(),
      };
    },
    async stop() {
      const last = phase;
      phase = { kind: 'stopped' };
      if (last.kind === 'starting')
        await last.session.then((session) => session.close()).catch(() => undefined);
      if (last.kind === 'ready') await last.session.close();
    },
  };
}

const PING_MS = 5_000;
const PING: Tool = {
  name: 'ping',
  inputSchema: {},
  digest: '',
  isReadOnly: true,
  isIdempotent: true,
  isDestructive: false,
};

/** 404 by the protocol; servers answer 400, too. */
function isForgotten(error: unknown): boolean {
  const cause = error instanceof NodeFailure ? error.cause : undefined;
  return cause instanceof StreamableHTTPError && (cause.code === 404 || cause.code === 400);
}

function isSame(one: Credentials, other: Credentials): boolean {
  return JSON.stringify(one.values) === JSON.stringify(other.values);
}

function unknownTool({ server, tool }: ToolCall): NodeFailure {
  return new NodeFailure(
    'tool_unknown',
    `The server "${server}" has no tool "${tool}" that may be called. List them: weft mcp ls ${server}`,
    { details: { server } },
  );
}

function changedTool({ server, tool }: ToolCall): NodeFailure {
  return new NodeFailure(
    'tool_changed',
    `The tool "${tool}" of "${server}" has another definition than the one this call was made for. Look at it before you call it: weft mcp ls ${server}`,
    { details: { server, tool } },
  );
}

interface Slots {
  take<Result>(work: () => Promise<Result>): Promise<Result>;
}

function createSlots(server: string): Slots {
  let open = 0;
  const waiting: (() => void)[] = [];
  return {
    async take(work) {
      if (open >= MCP_LIMITS.callsPerServer) {
        if (waiting.length >= MCP_LIMITS.waitingPerServer)
          throw unavailable(server, `more than ${MCP_LIMITS.waitingPerServer} calls wait for it.`);
        await new Promise<void>((enter) => waiting.push(enter));
      } else open += 1;
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) open -= 1;
        else next();
      }
    },
  };
}
