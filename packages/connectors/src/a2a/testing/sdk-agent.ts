import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard, type Message, Role, TaskState } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server';

/** An agent made of the SDK's own server, on a port of its own. */
export interface SdkAgent {
  readonly url: string;
  /** Messages as they came, oldest first. */
  readonly received: Message[];
  /** What its card says of it; a test may change it. */
  name: string;
}

const opened: Server[] = [];

export async function closeServers(): Promise<void> {
  for (const server of opened.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

export async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

const said = (text: string): Message => ({
  messageId: randomUUID(),
  taskId: '',
  contextId: '',
  role: Role.ROLE_AGENT,
  parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

/** Does what the first part of a message asks: asks back, rejects, works until it is cancelled, or echoes. */
function executor(agent: SdkAgent): AgentExecutor {
  return {
    async execute({ userMessage, taskId, contextId, task }, bus) {
      agent.received.push(userMessage);
      const content = userMessage.parts[0]?.content;
      const asked = content?.$case === 'text' ? content.value : JSON.stringify(content?.value);
      const status = (state: TaskState, text?: string) => ({
        state,
        message: text === undefined ? undefined : said(text),
        timestamp: undefined,
      });
      const at = (state: TaskState, text?: string) =>
        bus.publish(
          AgentEvent.statusUpdate({ taskId, contextId, status: status(state, text), metadata: undefined }),
        );
      bus.publish(
        AgentEvent.task(
          task ?? {
            id: taskId,
            contextId,
            status: status(TaskState.TASK_STATE_SUBMITTED),
            artifacts: [],
            history: [],
            metadata: undefined,
          },
        ),
      );
      if (asked === 'ask') return at(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which one?');
      if (asked === 'login') return at(TaskState.TASK_STATE_AUTH_REQUIRED, 'Who are you?');
      if (asked === 'reject') return at(TaskState.TASK_STATE_REJECTED, 'Not here.');
      at(TaskState.TASK_STATE_WORKING);
      if (asked === 'work') return;
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: {
            artifactId: 'a',
            name: 'echo',
            description: '',
            parts: [...userMessage.parts],
            metadata: undefined,
            extensions: [],
          },
          append: false,
          lastChunk: true,
          metadata: undefined,
        }),
      );
      at(TaskState.TASK_STATE_COMPLETED);
    },
    async cancelTask(taskId, bus) {
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId: '',
          status: { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: undefined },
          metadata: undefined,
        }),
      );
    },
  };
}

export async function openSdkAgent(version: '1.0' | '0.3', key?: string): Promise<SdkAgent> {
  const handlerOf = (card: object) =>
    new DefaultRequestHandler(AgentCard.fromJSON(card), new InMemoryTaskStore(), executor(agent));
  const card = () =>
    version === '1.0'
      ? {
          ...about(),
          supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        }
      : { ...about(), url: `${url}/rpc`, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' };
  const about = () => ({
    name: agent.name,
    description: 'Echoes.',
    version: '1',
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'echo', name: 'Echo', description: 'Repeats.', tags: [] }],
  });
  let rpc: JsonRpcTransportHandler | LegacyJsonRpcTransportHandler | undefined;
  const url = await listen((request, response) => {
    void (async () => {
      const answer = (status: number, body: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) return answer(401, {});
      if (request.url === '/.well-known/agent-card.json') return answer(200, card());
      rpc ??=
        version === '1.0'
          ? new JsonRpcTransportHandler(handlerOf(card()))
          : new LegacyJsonRpcTransportHandler(handlerOf(card()));
      const context = new ServerCallContext({ requestedVersion: version });
      return answer(200, await rpc.handle(await bodyOf(request), context));
    })();
  });
  const agent: SdkAgent = { url, received: [], name: 'Echo agent' };
  return agent;
}
