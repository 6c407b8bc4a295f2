import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ResultSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { createSecretMask, type Log, NodeFailure, type SecretMask, type ToolContext } from '@weft/engine';
import type { Json, JsonObject } from '@weft/protocol';
import { callScope } from './call-scope.ts';
import { CheckedTransport } from './checked-transport.ts';
import type { ConfiguredText, McpServer } from './config.ts';
import { startFailure } from './failures.ts';
import { egressFetch } from './http-fetch.ts';
import { MCP_LIMITS } from './limits.ts';
import { StdioTransport } from './stdio-transport.ts';

/** A conversation with one server, from its handshake to its end. */
export interface Session {
  /** Of the operator's secrets that it was begun with. */
  readonly credentials: Credentials;
  readonly pid: number | undefined;
  /** As the server calls itself. */
  readonly serverName: string | undefined;
  readonly isOpen: () => boolean;
  /** Why it ended. */
  readonly problem: () => string | undefined;
  request(method: string, params: JsonObject, options: RequestLimits): Promise<JsonObject>;
  close(): Promise<void>;
}

export interface RequestLimits {
  readonly context: ToolContext;
  readonly timeoutMs: number;
}

/** The values of environment variables or headers, and what of them must not be shown. */
export interface Credentials {
  readonly values: Readonly<Record<string, string>>;
  readonly mask: SecretMask;
}

/** Resolved for every use: a secret that was changed begins another session, and is masked in what the effect records. */
export async function resolveCredentials(
  { reach }: McpServer,
  secrets: ToolContext['operatorSecrets'],
): Promise<Credentials> {
  const texts: Readonly<Record<string, ConfiguredText>> = reach.kind === 'stdio' ? reach.env : reach.headers;
  const mask = createSecretMask();
  const values: Record<string, string> = {};
  for (const [name, { text, secretId }] of Object.entries(texts)) {
    if (secretId === undefined) {
      values[name] = text;
      continue;
    }
    if (secrets === undefined) throw noSecrets(name);
    const value = await secrets.resolve(secretId);
    mask.add(secretId, value);
    values[name] = text + value;
  }
  return { values, mask };
}

function noSecrets(name: string): NodeFailure {
  return new NodeFailure('credential_unavailable', `${name} is a secret, and there are no secrets here.`);
}

export interface SessionOptions {
  readonly log: Log;
  readonly version: string;
  readonly cwd: string;
  readonly onToolsChanged: () => void;
  readonly onClosed: () => void;
}

/** Begins one. Throws NodeFailure. */
export async function openSession(
  server: McpServer,
  credentials: Credentials,
  context: ToolContext,
  options: SessionOptions,
): Promise<Session> {
  const { name } = server;
  const inner = createTransport(server, credentials, context, options);
  const problem = () => (inner instanceof StdioTransport ? inner.problem : undefined);
  const client = new Client({ name: 'weft', version: options.version }, { capabilities: {} });
  let isOpen = true;
  Object.assign(client, {
    onclose: () => {
      isOpen = false;
      options.onClosed();
    },
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, options.onToolsChanged);
  const transport = new CheckedTransport(inner, {
    mask: (value: Json) => credentials.mask.json(value),
    ...(server.reach.kind === 'http' && { settleMs: SETTLE_MS }),
  });
  try {
    // Not under the signal of the effect that happens to be the first: others may wait for the same session.
    await callScope.run({ ...sendingAs(context), signal: new AbortController().signal }, () =>
      client.connect(transport, { timeout: MCP_LIMITS.startMs }),
    );
  } catch (error) {
    await inner.close();
    throw startFailure(name, error, problem());
  }
  return {
    credentials,
    pid: inner instanceof StdioTransport ? inner.pid : undefined,
    serverName: client.getServerVersion()?.name,
    isOpen: () => isOpen,
    problem,
    async request(method, params, { context: caller, timeoutMs }) {
      if (caller.signal.aborted)
        throw new NodeFailure('service_unavailable', 'The node was stopped.', { retryable: true });
      // One of its own for each request: the SDK leaves its listeners on them.
      const signal = AbortSignal.any([caller.signal]);
      const result = await callScope.run(sendingAs(caller), () =>
        client.request({ method, params }, ResultSchema, { signal, timeout: timeoutMs }),
      );
      return result as JsonObject;
    },
    close: () => inner.close(),
  };
}

const SETTLE_MS = 2_000;

/** A context makes its parts when they are read, so that a spread of it would be empty. */
function sendingAs(context: ToolContext) {
  return { egress: context.egress, signal: context.signal, holdsClaim: () => context.holdsClaim() };
}

function createTransport(
  { name, reach }: McpServer,
  { values, mask }: Credentials,
  context: ToolContext,
  { log, cwd }: SessionOptions,
): Transport {
  if (reach.kind === 'stdio') {
    return new StdioTransport({
      server: name,
      command: reach.command,
      args: reach.args,
      env: values,
      cwd: reach.cwd ?? cwd,
      log,
      mask: (text) => mask.text(text),
    });
  }
  return new StreamableHTTPClientTransport(reach.url, {
    fetch: egressFetch(reach.url, { egress: context.egress }),
    requestInit: { headers: { ...values } },
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
}
