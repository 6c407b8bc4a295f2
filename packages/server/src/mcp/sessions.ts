import { randomUUID } from 'node:crypto';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { HostError } from '@weft/protocol';
import type { FastifyRequest } from 'fastify';
import type { ProtocolDoor } from '../protocols/perform-operation.ts';
import { createProtocolServer } from './protocol-server.ts';

/** A client's session lives in the process that opened it. One that is lost is opened again by the client: runs are not part of it. */
interface Session {
  readonly transport: StreamableHTTPServerTransport;
  readonly tenant: string;
  readonly keyId: string;
  usedAt: number;
  /** Requests that are being answered. */
  active: number;
  isClosed: boolean;
}

export interface McpSessions {
  /** The session that the request names, or a new one. Throws HostError: another key's session is none. */
  of(request: FastifyRequest): Promise<Session>;
  closeAll(): void;
}

const HEADER = 'mcp-session-id';
const MAX_SESSIONS = 1_000;
const MAX_PER_KEY = 100;
/** Requests of one key that may wait at the same time, in all its sessions. */
const MAX_WAITING = 64;
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;

export function createMcpSessions(door: () => ProtocolDoor, version: string): McpSessions {
  const sessions = new Map<string, Session>();
  const sweep = setInterval(() => dropIdle(), SWEEP_MS).unref();

  function dropIdle(): void {
    const before = performance.now() - IDLE_MS;
    for (const session of sessions.values())
      if (session.active === 0 && session.usedAt < before) void session.transport.close();
  }

  async function open(tenant: string, keyId: string): Promise<Session> {
    const ofKey = [...sessions.values()].filter((each) => each.keyId === keyId);
    if (sessions.size >= MAX_SESSIONS || ofKey.length >= MAX_PER_KEY) {
      // The one that was silent for longest makes room, rather than that clients who never say goodbye lock the others out.
      const [oldest] = (ofKey.length >= MAX_PER_KEY ? ofKey : [...sessions.values()])
        .filter(({ active }) => active === 0)
        .toSorted((a, b) => a.usedAt - b.usedAt);
      if (oldest === undefined)
        throw new HostError(
          'rate_limited',
          'Too many MCP sessions are busy; end one first.',
          {},
          { retryAfter: 1 },
        );
      await oldest.transport.close();
    }
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, session),
    });
    const session: Session = {
      transport,
      tenant,
      keyId,
      usedAt: performance.now(),
      active: 0,
      isClosed: false,
    };
    const onclose = (): void => {
      session.isClosed = true;
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
    };
    // Before the protocol's own: what it then aborts was not cancelled.
    Object.assign(transport, { onclose });
    await createProtocolServer(door(), version, () => session.isClosed).connect(transport);
    return session;
  }

  function refuseTooMany(keyId: string): void {
    let waiting = 0;
    for (const session of sessions.values()) if (session.keyId === keyId) waiting += session.active;
    if (waiting >= MAX_WAITING)
      throw new HostError(
        'rate_limited',
        `${MAX_WAITING} requests of this key wait already; wait for one of them.`,
        {},
        { retryAfter: 1 },
      );
  }

  return {
    async of(request) {
      const { tenant = '', keyId = '' } = request.caller ?? {};
      refuseTooMany(keyId);
      const id = request.headers[HEADER];
      if (id === undefined) return open(tenant, keyId);
      const known = typeof id === 'string' ? sessions.get(id) : undefined;
      if (known === undefined || known.keyId !== keyId || known.tenant !== tenant)
        throw new HostError(
          'not_found',
          'This MCP session is not known here, or has ended: initialize a new one.',
        );
      known.usedAt = performance.now();
      return known;
    },
    closeAll() {
      clearInterval(sweep);
      for (const { transport } of sessions.values()) void transport.close();
    },
  };
}
