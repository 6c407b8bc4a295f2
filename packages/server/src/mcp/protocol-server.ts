import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  type JSONRPCRequest,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
  type ServerResult,
} from '@modelcontextprotocol/sdk/types.js';
import { isHostError, type JsonObject } from '@weft/protocol';
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../app-context.ts';
import { causeFields } from '../http/errors.ts';
import {
  admitted,
  OperationRefused,
  performOperation,
  type ProtocolDoor,
} from '../protocols/perform-operation.ts';
import { formOf } from '../protocols/question.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { listResources, readResource, RESOURCE_TEMPLATES, UnknownResource } from './resources.ts';
import { callTool, InvalidArguments, listTools, type ToolSession, UnknownTool } from './tools.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const INSTRUCTIONS =
  'Each tool runs a durable workflow: it survives restarts, and may wait for people. A tool answers with the run as it stands. ' +
  'When it is still running, ask again with weft_run_status; when it waits, show its question to the person and send ' +
  'their decision with weft_answer.';

/** What a session says: the requests of the protocol, each performed for the HTTP request that has brought it. */
export function createProtocolServer(door: ProtocolDoor, version: string, isClosed: () => boolean): Server {
  const server = new Server(
    { name: 'weft', title: 'Weft', version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: INSTRUCTIONS },
  );

  function sessionOf({ signal, authInfo, _meta, sendNotification }: Extra): ToolSession {
    const request = authInfo?.extra?.['request'] as FastifyRequest;
    const token = _meta?.progressToken;
    return {
      context: door.context,
      perform: (operationId, place) => performOperation(door, request, operationId, place),
      admit: async (operationId) => callerOf(await admitted(door, request, operationId)),
      ended: signal,
      isCancelled: () => signal.aborted && !isClosed(),
      onProgress:
        token === undefined
          ? undefined
          : ({ events, message }) => {
              const params = { progressToken: token, progress: events, message };
              sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
            },
      elicit: server.getClientCapabilities()?.elicitation === undefined ? undefined : elicit(signal),
    };
  }

  /** No time limit but the question's own: a person may think about it, and the run waits in any case. */
  function elicit(signal: AbortSignal): ToolSession['elicit'] {
    return async (question) => {
      const form = formOf(question);
      if (form === undefined) return undefined;
      const { message, requestedSchema } = form;
      const { action, content = {} } = await server.elicitInput(
        { mode: 'form', message, requestedSchema },
        { signal, timeout: LONGEST_ANSWER_MS },
      );
      return action === 'accept' ? (form.answerOf(content) as JsonObject) : undefined;
    };
  }

  const requests: Readonly<Record<string, Answer>> = {
    'tools/list': read(ListToolsRequestSchema, async (_request, session) => ({
      tools: await listTools(session),
    })),
    'tools/call': read(CallToolRequestSchema, async ({ params }, session) => ({
      ...(await callTool(session, params.name, (params.arguments ?? {}) as JsonObject)),
    })),
    'resources/list': read(ListResourcesRequestSchema, async (_request, session) => ({
      resources: await listResources(session),
    })),
    'resources/templates/list': () => Promise.resolve({ resourceTemplates: RESOURCE_TEMPLATES }),
    'resources/read': read(ReadResourceRequestSchema, async ({ params }, session) => ({
      contents: [{ ...(await readResource(session, params.uri)) }],
    })),
    'prompts/list': read(ListPromptsRequestSchema, ({ params }, session) =>
      listPrompts(session, params?.cursor),
    ),
    'prompts/get': read(GetPromptRequestSchema, ({ params }, session) =>
      getPrompt(session, params.name, params.arguments ?? {}),
    ),
  };
  // Not by handlers of their own: what those cannot read they take for a failure of the host.
  server.fallbackRequestHandler = (request, extra) => {
    const answer = Object.hasOwn(requests, request.method) ? requests[request.method] : undefined;
    if (answer === undefined) throw new McpError(ErrorCode.MethodNotFound, 'Method not found');
    return answered(door, async () => (await answer(request, sessionOf(extra))) as ServerResult);
  };
  return server;
}

type Answer = (request: JSONRPCRequest, session: ToolSession) => Promise<object>;

interface Schema<Request> {
  safeParse(request: unknown):
    | { readonly success: true; readonly data: Request }
    | {
        readonly success: false;
        readonly error: {
          readonly issues: readonly { readonly path: PropertyKey[]; readonly message: string }[];
        };
      };
}

/** A request of the protocol's shape, or what is wrong with it. */
function read<Request>(
  schema: Schema<Request>,
  answer: (request: Request, session: ToolSession) => Promise<object>,
): Answer {
  return async (request, session) => {
    const parsed = schema.safeParse(request);
    if (parsed.success) return await answer(parsed.data, session);
    const [issue] = parsed.error.issues;
    throw new InvalidArguments(`${issue?.path.map(String).join('.') ?? 'params'}: ${issue?.message ?? ''}`);
  };
}

const LONGEST_ANSWER_MS = 30 * 60_000;
/** MCP's own, in addition to those of JSON-RPC. */
const RESOURCE_NOT_FOUND = -32_002;

/** Failures in the protocol's terms. What is not foreseen says nothing of itself. */
async function answered<Result>({ context }: ProtocolDoor, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownTool || error instanceof InvalidArguments)
      throw new McpError(ErrorCode.InvalidParams, error.message);
    if (error instanceof UnknownResource) throw new McpError(RESOURCE_NOT_FOUND, error.message);
    if (error instanceof OperationRefused)
      throw new McpError(ErrorCode.InvalidRequest, error.message, { code: error.code });
    if (isHostError(error)) throw new McpError(ErrorCode.InvalidRequest, error.message, { code: error.code });
    if (error instanceof McpError) throw error;
    context.log('error', causeFields(error), 'a request of an assistant failed');
    throw new McpError(ErrorCode.InternalError, 'The host has failed; its log says why.');
  }
}
