import { type AgentCard, type Message, Role, type Task } from '@a2a-js/sdk';
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import type { Json } from '@weft/protocol';
import type { PeerConnection } from './connection.ts';
import { readAnswer, readTask } from './task.ts';

/** How many hosts the work has come through, for those who count them. */
const HOPS = 'urn:weft:a2a:hops';

const OPTIONS = { legacyCompat: { enabled: true } };

/** By the bindings of A2A 1.0 and 0.3, as the card says, with the client of the SDK. */
export async function connectBySdk(
  peer: string,
  agent: AgentCard,
  fetchImpl: typeof globalThis.fetch,
): Promise<PeerConnection> {
  const factory = new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ ...OPTIONS, fetchImpl }),
      new RestTransportFactory({ ...OPTIONS, fetchImpl }),
    ],
    clientConfig: { polling: true },
  });
  const client = await factory.createFromAgentCard(agent);
  return {
    async send({ messageId, skill, content, taskId = '', contextId = '', hops }) {
      const message: Message = {
        messageId,
        taskId,
        contextId,
        role: Role.ROLE_USER,
        parts: [partOf(content)],
        metadata: { skillId: skill, ...(hops !== undefined && { [HOPS]: hops }) },
        extensions: [],
        referenceTaskIds: [],
      };
      const configuration = {
        acceptedOutputModes: ['application/json', 'text/plain'],
        taskPushNotificationConfig: undefined,
        historyLength: 0,
        returnImmediately: true,
      };
      const answer: Task | Message = await client.sendMessage({
        tenant: '',
        message,
        configuration,
        metadata: undefined,
      });
      return readAnswer(peer, answer);
    },
    task: async (taskId) =>
      readTask(peer, await client.getTask({ tenant: '', id: taskId, historyLength: 0 }), taskId),
    cancel: async (taskId) =>
      readTask(peer, await client.cancelTask({ tenant: '', id: taskId, metadata: undefined }), taskId),
  };
}

function partOf(content: Json): Message['parts'][number] {
  const isText = typeof content === 'string';
  return {
    content: isText ? { $case: 'text', value: content } : { $case: 'data', value: content },
    metadata: undefined,
    filename: '',
    mediaType: isText ? 'text/plain' : 'application/json',
  };
}
