import { once } from 'node:events';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Fetch } from '@weft/sdk';
import { shown } from '../../output/terminal-text.ts';
import { reasonOf } from '../../parsing/key-values.ts';

export interface BridgeOptions {
  readonly url: URL;
  readonly key: string;
  readonly fetch?: Fetch;
  readonly note: (message: string) => void;
}

const INTERNAL_ERROR = -32_603;

/** Hands every message on, from standard input to the host and back, until standard input ends. */
export async function bridgeStdio({ url, key, fetch, note }: BridgeOptions): Promise<void> {
  const client = new StdioServerTransport();
  const host = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    ...(fetch !== undefined && { fetch: (...asked) => fetch(...(asked as Parameters<Fetch>)) }),
  });

  async function toHost(message: JSONRPCMessage): Promise<void> {
    try {
      await host.send(message);
    } catch (error) {
      note(shown`The host did not take a message: ${reasonOf(error)}`);
      if (!('id' in message) || !('method' in message)) return;
      const failure = { code: INTERNAL_ERROR, message: `The host cannot be asked: ${reasonOf(error)}` };
      await client.send({ jsonrpc: '2.0', id: message.id, error: failure });
    }
  }

  Object.assign(client, { onmessage: (message: JSONRPCMessage) => void toHost(message) });
  Object.assign(host, {
    onmessage: (message: JSONRPCMessage) => {
      const version = protocolVersionIn(message);
      if (version !== undefined) host.setProtocolVersion(version);
      void client.send(message);
    },
    onerror: (error: Error) => note(shown`${reasonOf(error)}`),
  });
  await host.start();
  await client.start();
  await once(process.stdin, 'end');
  await host.terminateSession().catch(() => undefined);
  await host.close();
  await client.close();
}

/** The answer to `initialize` says with which version later requests are sent. */
function protocolVersionIn(message: JSONRPCMessage): string | undefined {
  if (!('result' in message)) return undefined;
  const { protocolVersion } = message.result;
  return typeof protocolVersion === 'string' ? protocolVersion : undefined;
}
