import { HostError, isJsonObject } from '@weft/protocol';
import type { FastifyRequest } from 'fastify';
import type { A2aExchange } from '../../a2a/exchange.ts';
import { callerOf, type Routes, sendJson } from '../../app-context.ts';
import { checkSameOrigin } from '../../http/allowed-host.ts';

/** Requests of one key that may wait at the same time. */
const MAX_WAITING = 64;

/**
 * The A2A endpoint and the card of the agent. What a message asks for passes the guard again as the operation that it is. The
 * protocol's own code is loaded with the first request.
 */
export const a2aRoutes: Routes = (serve, context) => {
  let loaded: Promise<A2aExchange> | undefined;
  const waiting = new Map<string, number>();
  const open = new Set<AbortController>();
  context.closers.push(() => {
    for (const each of open) each.abort();
  });

  function exchange(): Promise<A2aExchange> {
    loaded ??= import('../../a2a/exchange.ts').then(({ createA2aExchange }) => createA2aExchange(context));
    return loaded;
  }

  function enter(keyId: string): () => void {
    const count = waiting.get(keyId) ?? 0;
    if (count >= MAX_WAITING)
      throw new HostError(
        'rate_limited',
        `${MAX_WAITING} requests of this key wait already; wait for one of them.`,
        {},
        { retryAfter: 1 },
      );
    waiting.set(keyId, count + 1);
    return () => {
      const left = (waiting.get(keyId) ?? 1) - 1;
      if (left === 0) waiting.delete(keyId);
      else waiting.set(keyId, left);
    };
  }

  serve('getAgentCard', async (request, reply) => {
    context.checkHost(request);
    const card = await (await exchange()).card(request);
    reply.header('vary', 'A2A-Version, Authorization');
    return sendJson(reply, 200, JSON.stringify(card));
  });

  serve('sendA2aMessage', async (request, reply) => {
    context.checkHost(request);
    checkSameOrigin(request);
    checkMessage(request);
    const leave = enter(callerOf(request).keyId);
    const ended = new AbortController();
    open.add(ended);
    reply.raw.once('close', () => ended.abort());
    try {
      await (await exchange()).answer(request, reply, ended.signal);
    } finally {
      open.delete(ended);
      leave();
    }
    return reply;
  });
};

/** Requests wait for runs: one message is one request, so that they can be counted. */
function checkMessage({ body }: FastifyRequest): void {
  if (isJsonObject(body)) return;
  throw new HostError('validation_error', 'Send one JSON-RPC message, an object.', { field: 'body' });
}
