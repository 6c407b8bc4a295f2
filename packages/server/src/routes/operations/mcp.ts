import { HostError } from '@weft/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Routes } from '../../app-context.ts';
import { checkSameOrigin } from '../../http/allowed-host.ts';
import type { McpSessions } from '../../mcp/sessions.ts';

/**
 * The MCP endpoint. Every request has passed the guard; what it asks for passes it again as the
 * operation that it is. The protocol's own code is loaded with the first request.
 */
export const mcpRoutes: Routes = (serve, context) => {
  let sessions: Promise<McpSessions> | undefined;

  function load({ server }: FastifyRequest): Promise<McpSessions> {
    sessions ??= import('../../mcp/sessions.ts').then(({ createMcpSessions }) => {
      const { version = '' } = context.host.capabilities().implementation ?? {};
      const created = createMcpSessions(() => ({ ...server.shared, via: 'MCP' }), version);
      context.closers.push(() => created.closeAll());
      return created;
    });
    return sessions;
  }

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    context.checkHost(request);
    checkSameOrigin(request);
    refuseSeveral(request.body);
    const session = await (await load(request)).of(request);
    const auth = { token: '', clientId: request.caller?.keyId ?? '', scopes: [], extra: { request } };
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    session.active += 1;
    reply.raw.once('close', () => {
      session.active -= 1;
      session.usedAt = performance.now();
    });
    await session.transport.handleRequest(Object.assign(request.raw, { auth }), reply.raw, request.body);
  }

  for (const operationId of ['sendMcpMessage', 'streamMcpMessages', 'endMcpSession'] as const)
    serve(operationId, answer);
};

/** Requests wait for runs: one message is one request, so that they can be counted. */
function refuseSeveral(body: unknown): void {
  if (!Array.isArray(body)) return;
  throw new HostError('validation_error', 'Send one JSON-RPC message, not a list of them.', {
    field: 'body',
  });
}
