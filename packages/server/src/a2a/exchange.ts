import { AgentCard, formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler, LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import type { JsonObject } from '@weft/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AppContext, callerOf, sendJson } from '../app-context.ts';
import { idempotencyOf } from '../http/idempotency.ts';
import { exposedWorkflows } from '../protocols/exposed-workflows.ts';
import { admitted, performOperation, type ProtocolDoor } from '../protocols/perform-operation.ts';
import { HOST_FAILED } from './a2a-error.ts';
import { agentCardOf } from './agent-card.ts';
import { createRequestHandler } from './request-handler.ts';
import type { A2aSession } from './session.ts';

export interface A2aExchange {
  /** Answers a JSON-RPC message, in one piece or as a stream. */
  answer(request: FastifyRequest, reply: FastifyReply, ended: AbortSignal): Promise<void>;
  /** With the skills that the sender's key may see; without a key there are none. */
  card(request: FastifyRequest): Promise<unknown>;
}

const LEGACY = '0.3';

/** Of a request without the header it is the version before there was one. */
function versionOf({ headers }: FastifyRequest): string {
  const version = headers['a2a-version'];
  return typeof version === 'string' && version !== '' ? version : LEGACY;
}

/** The bindings of A2A: the SDK reads and writes the messages of both versions, the runs of the host answer them. */
export function createA2aExchange(context: AppContext): A2aExchange {
  const { version = '' } = context.host.capabilities().implementation ?? {};
  const own = { version, pushNotifications: context.host.taskPushes !== undefined };

  function sessionOf(request: FastifyRequest, ended: AbortSignal): A2aSession {
    const door: ProtocolDoor = { ...request.server.shared, via: 'A2A' };
    const { host, log } = context;
    return {
      host,
      log,
      ended,
      perform: (operationId, place) => performOperation(door, request, operationId, place),
      admit: async (operationId) => callerOf(await admitted(door, request, operationId)),
      card: () => cardOf(request),
      async once(caller, key, asked, act) {
        const claim = idempotencyOf(
          { headers: { 'idempotency-key': key } },
          {
            operation: 'a2a.message',
            target: [],
            body: asked,
            render: (id) => ({ status: 200, body: JSON.stringify(id) }),
          },
        );
        const answer = await host.once(caller, claim, act);
        return answer.replayed ? (JSON.parse(answer.body) as string) : answer.outcome;
      },
    };
  }

  async function cardOf(request: FastifyRequest): Promise<AgentCard> {
    const origin = context.publicUrl(request).replace(/\/+$/, '');
    if (request.headers.authorization === undefined) return agentCardOf({ ...own, origin, skills: [] });
    const door: ProtocolDoor = { ...request.server.shared, via: 'A2A' };
    const caller = callerOf(await admitted(door, request, 'listWorkflows'));
    return agentCardOf({ ...own, origin, skills: await exposedWorkflows(context.host, caller, 'a2a') });
  }

  return {
    async answer(request, reply, ended) {
      const requestedVersion = versionOf(request);
      const handler = createRequestHandler(sessionOf(request, ended));
      const Transport = requestedVersion === LEGACY ? LegacyJsonRpcTransportHandler : JsonRpcTransportHandler;
      const mapError =
        requestedVersion === LEGACY
          ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError
          : JsonRpcTransportHandler.mapToJSONRPCError;
      const body = request.body as JsonObject;
      const failed = (error: unknown) => ({ jsonrpc: '2.0', id: body['id'] ?? null, error: mapError(error) });
      try {
        validateVersion(requestedVersion, agentCardOf({ ...own, origin: '', skills: [] }), 'JSONRPC');
      } catch (error) {
        return void sendJson(reply, 200, JSON.stringify(failed(error)));
      }
      const answer = await new Transport(handler).handle(body, new ServerCallContext({ requestedVersion }));
      if (!(Symbol.asyncIterator in answer))
        return void sendJson(
          reply,
          200,
          JSON.stringify(isUnreadable(answer) ? failed(unreadable()) : answer),
        );
      await stream(reply, answer, failed);
    },
    async card(request) {
      const card = await cardOf(request);
      if (versionOf(request) !== LEGACY) return AgentCard.toJSON(card);
      const handler = createRequestHandler({
        ...sessionOf(request, new AbortController().signal),
        card: () => Promise.resolve(card),
      });
      return await new LegacyRestTransportHandler(handler).getAuthenticatedExtendedAgentCard(
        new ServerCallContext(),
      );
    },
  };
}

/** What the SDK could not read it takes for a failure of its own, in words that say nothing to a client. */
function isUnreadable(answer: object): boolean {
  const { error } = answer as { readonly error?: { readonly code?: number; readonly message?: string } };
  return error?.code === INTERNAL_ERROR && error.message !== HOST_FAILED;
}

const INTERNAL_ERROR = -32_603;

function unreadable(): RequestMalformedError {
  return new RequestMalformedError('params: do not have the shape that this method takes');
}

/** Each message is an event. What fails before the first one is an answer like any other. */
async function stream(
  reply: FastifyReply,
  messages: AsyncGenerator<unknown, void, undefined>,
  failed: (error: unknown) => object,
): Promise<void> {
  let first: IteratorResult<unknown, void>;
  try {
    first = await messages.next();
  } catch (error) {
    return void sendJson(reply, 200, JSON.stringify(failed(error)));
  }
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200, { ...SSE_HEADERS });
  try {
    for (let next = first; next.done !== true && !raw.destroyed; next = await messages.next()) {
      if (!raw.write(formatSSEEvent(next.value))) await drained(raw);
    }
  } catch (error) {
    raw.write(formatSSEErrorEvent(failed(error)));
  } finally {
    await messages.return(undefined);
    raw.end();
  }
}

/** A reader that is slow makes the log wait, not the memory. */
function drained(raw: FastifyReply['raw']): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      raw.off('drain', done);
      raw.off('close', done);
      resolve();
    };
    raw.once('drain', done);
    raw.once('close', done);
  });
}
