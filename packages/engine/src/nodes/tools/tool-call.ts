import { canonicalJson, isJsonObject, type JsonObject, nameOf } from '@weft/protocol';
import { type Static, Type } from 'typebox';
import { sha256Hex } from '../../crypto/hash.ts';
import {
  type EffectContext,
  type NodeEvent,
  NodeFailure,
  type NodeInput,
  type NodeResult,
  type Question,
  type StepInput,
  type StepMove,
  type StepRecord,
  type StepsNodeType,
} from '../../model/node-type.ts';
import { nodeKey } from '../../model/run-state.ts';
import type { Tool, ToolResult } from '../../ports/tools.ts';
import { closedConfig, jsonObject } from '../config/config-schema.ts';
import { stepFailure } from '../agents/step-failure.ts';
import { agentIdOf } from '../people/confidence.ts';
import { checkArguments } from './tool-arguments.ts';

const optional = Type.Optional;

const TOOL_CALL_CONFIG = closedConfig({
  serverId: nameOf({ minLength: 1, maxLength: 64 }),
  toolName: nameOf({ minLength: 1, maxLength: 128 }),
  arguments: optional(jsonObject),
  timeoutMs: optional(Type.Integer({ minimum: 1, maximum: 600_000 })),
  requireApproval: optional(Type.Literal(true)),
  digest: optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
});

type Config = Static<typeof TOOL_CALL_CONFIG>;

/** `config.mcp` of a prompt: the same, of a server that need not be named. */
export const MCP_CONFIG = closedConfig({
  server: optional(nameOf({ minLength: 1, maxLength: 64 })),
  tool: nameOf({ minLength: 1, maxLength: 128 }),
  arguments: optional(jsonObject),
  timeoutMs: optional(Type.Integer({ minimum: 1, maximum: 600_000 })),
  requireApproval: optional(Type.Literal(true)),
  digest: optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
});

type Wanted = Omit<Config, 'serverId'> & { readonly serverId?: string | undefined };

/** What is to be called, as the config of either node type says it. */
function wantedIn(config: JsonObject): Wanted {
  if (config['mcp'] === undefined) return config as Config;
  const { server, tool, ...rest } = config['mcp'] as Static<typeof MCP_CONFIG>;
  return { ...rest, serverId: server, toolName: tool };
}

/**
 * Calls a tool of a server that the operator has configured.
 *
 *   look the tool up ──► a person agrees, where that is needed ──► call it ──► result
 *
 * M-8. What is called is the definition that was looked up, and that a person has seen; one that has changed since is not called.
 * M-9. The arguments that a person has agreed to are sent, and no others.
 * M-10. A call whose outcome is not known is not made again, unless the tool only reads or is idempotent.
 */
const CALLING: Omit<StepsNodeType, 'typeId' | 'title' | 'summary' | 'config'> = {
  kind: 'steps',
  outputPorts: ['output', 'content', 'structuredContent', 'isError', 'tool'],
  callsTool: (config) => {
    const { serverId: server, toolName: tool } = wantedIn(config);
    return { server, tool };
  },
  dependsOn: () => ['arguments'],
  next(input, history) {
    const look = stepOf(history, 'look');
    if (look === undefined) return { steps: [lookUp(input)] };
    if (look.result === undefined) return { failure: stepFailure(look) };
    const tool = look.result as unknown as LookedUp;
    const question = stepOf(history, 'approval');
    if (tool.needsApproval && question === undefined)
      return { ask: approvalOf(input, tool), step: 'approval' };
    const answer = question?.result;
    if (answer !== undefined && answer['action'] !== 'accept') return rejected(input, tool, answer);
    const call = stepOf(history, 'call');
    if (call === undefined) return { steps: [calling(input, tool)], events: [called(input, tool)] };
    const events = [returned(input, tool, call)];
    if (call.result === undefined) return { failure: stepFailure(call), events };
    return { ...finished(input, tool, call.result), events };
  },
  perform(input, context) {
    return input.step.id === 'look' ? look(input, context) : call(input, context);
  },
};

export const toolCallNode: StepsNodeType = {
  ...CALLING,
  typeId: 'core.mcp.toolCall',
  title: 'MCP tool call',
  summary:
    'Calls a tool of a configured MCP server; one that may destroy something waits until a person agrees.',
  config: TOOL_CALL_CONFIG,
};

/** A node type that asks a model, for configs in which `mcp` names a tool instead. */
export function callingTool(
  asking: Pick<StepsNodeType, 'typeId' | 'title' | 'summary' | 'config'>,
): StepsNodeType {
  const { typeId, title, summary, config } = asking;
  return {
    ...CALLING,
    ...{ typeId, title, summary, config },
    prepare(given, tools) {
      const [other] = Object.keys(given).filter((name) => name !== 'mcp');
      if (other === undefined) return;
      tools.refuse(`/${other}`, 'With "mcp" a tool is called and no model is asked: remove one of the two.');
    },
  };
}

/** What is kept of a definition. */
interface LookedUp {
  readonly server: string;
  readonly digest: string;
  readonly description?: string;
  readonly needsApproval: boolean;
  readonly isDestructive: boolean;
  readonly isRepeatable: boolean;
}

const MAX_DESCRIPTION = 1_024;

async function look({ config, step }: StepInput, context: EffectContext): Promise<JsonObject> {
  const { servers } = context.tools;
  const { serverId = defaultServer(servers), toolName, requireApproval, digest: wanted } = wantedIn(config);
  if (serverId === undefined) throw noDefault(servers);
  if (!servers.includes(serverId)) throw unknownServer(serverId, servers);
  const tool = (await context.tools.list(serverId, context)).find(({ name }) => name === toolName);
  if (tool === undefined) throw unknownTool(serverId, toolName);
  if (wanted !== undefined && wanted !== tool.digest) throw otherTool(serverId, tool);
  checkArguments(tool, step.request['arguments'] as JsonObject);
  const { digest, description, isDestructive, isReadOnly, isIdempotent } = tool;
  return {
    server: serverId,
    digest,
    ...(description !== undefined && { description: description.slice(0, MAX_DESCRIPTION) }),
    needsApproval: requireApproval === true || (tool.needsApproval ?? isDestructive),
    isDestructive,
    isRepeatable: isReadOnly || isIdempotent,
  };
}

async function call({ step, config }: StepInput, context: EffectContext): Promise<JsonObject> {
  const { timeoutMs } = wantedIn(config);
  const request = step.request as {
    readonly server: string;
    readonly tool: string;
    readonly digest: string;
    readonly arguments: JsonObject;
  };
  const result: ToolResult = await context.tools.call(
    { ...request, ...(timeoutMs !== undefined && { timeoutMs }) },
    context,
  );
  const { content, structuredContent, isError } = result;
  return { content: [...content], ...(structuredContent !== undefined && { structuredContent }), isError };
}

function lookUp(input: NodeInput) {
  const { serverId: server, toolName: tool } = wantedIn(input.config);
  const request = { ...(server !== undefined && { server }), tool, arguments: argumentsOf(input) };
  return { id: 'look', request, onUnknownOutcome: 'repeat' } as const;
}

function calling(input: NodeInput, { server, digest, isRepeatable }: LookedUp) {
  const { toolName: tool } = wantedIn(input.config);
  return {
    id: 'call',
    request: { server, tool, digest, arguments: argumentsOf(input) },
    onUnknownOutcome: isRepeatable ? 'repeat' : 'fail',
  } as const;
}

/** Those of the config, with those of the port laid over them. */
function argumentsOf({ config, inputs }: NodeInput): JsonObject {
  const given = inputs['arguments'] ?? {};
  if (!isJsonObject(given)) {
    throw new NodeFailure('validation_error', 'The input port "arguments" takes an object.', {
      details: { field: 'arguments' },
    });
  }
  return { ...wantedIn(config).arguments, ...given };
}

function approvalOf(input: NodeInput, looked: LookedUp): Question {
  const { server, digest, description, isDestructive } = looked;
  const { toolName: tool } = wantedIn(input.config);
  return {
    kind: 'approval',
    data: {
      artifactId: callId(input),
      artifactType: 'tool-call',
      title: `Call ${tool} of ${server}?`,
      actions: ['accept', 'reject'],
      artifactData: {
        server,
        tool,
        arguments: argumentsOf(input),
        digest,
        isDestructive,
        ...(description !== undefined && { untrustedDescription: description }),
      },
    },
  };
}

function rejected(input: NodeInput, tool: LookedUp, { comment }: JsonObject): StepMove {
  const { toolName } = wantedIn(input.config);
  const why = typeof comment === 'string' && comment !== '' ? ` They say: ${comment}` : '';
  const message = `A person has rejected the call of "${toolName}" of "${tool.server}".${why}`;
  const error = { code: 'tool_call_rejected', message };
  return {
    failure: new NodeFailure(error.code, message),
    events: [
      called(input, tool),
      { type: 'agent.toolReturned', payload: { ...placeOf(input, tool), status: 'forbidden', error } },
    ],
  };
}

function finished({ config }: NodeInput, { server, digest }: LookedUp, result: JsonObject): NodeResult {
  const { toolName: name } = wantedIn(config);
  return { outputs: { ...result, output: outputOf(result), tool: { server, name, digest } } };
}

/** What most want of a result: its data, or its text, or else its parts. */
function outputOf({ structuredContent, content }: JsonObject) {
  if (structuredContent !== undefined) return structuredContent;
  const parts = Array.isArray(content) ? content : [];
  const texts = parts.map((part) =>
    isJsonObject(part) && part['type'] === 'text' ? part['text'] : undefined,
  );
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : parts;
}

/** Arguments and answers stand in the steps; here are their hashes. */
function called(input: NodeInput, tool: LookedUp): NodeEvent {
  const argsHash = sha256Hex(canonicalJson(argumentsOf(input)));
  const { digest: toolDigest } = tool;
  return {
    type: 'agent.toolCalled',
    payload: { ...placeOf(input, tool), argsHash, transport: 'mcp', toolDigest },
  };
}

function returned(input: NodeInput, tool: LookedUp, { result, error }: StepRecord): NodeEvent {
  const place = placeOf(input, tool);
  if (result === undefined) {
    const { code = 'node_failed', message = '' } = error ?? {};
    return { type: 'agent.toolReturned', payload: { ...place, status: 'error', error: { code, message } } };
  }
  const text = canonicalJson(result);
  const outcome = { contentHash: sha256Hex(text), contentLength: text.length };
  const status = result['isError'] === true ? 'error' : 'ok';
  return { type: 'agent.toolReturned', payload: { ...place, status, outcome } };
}

function placeOf(input: NodeInput, { server }: LookedUp) {
  const { toolName } = wantedIn(input.config);
  return { agentId: agentIdOf(input, 'tool'), toolName: `${server}/${toolName}`, callId: callId(input) };
}

function callId({ nodeId, iteration, visit }: NodeInput): string {
  const key = nodeKey(nodeId, iteration);
  return visit === 0 ? key : `${key}#${visit}`;
}

function stepOf(history: readonly StepRecord[], id: string): StepRecord | undefined {
  return history.find((step) => step.id === id);
}

/** Where none is named: the one called `default`, or the only one there is. */
export function defaultServer(servers: readonly string[]): string | undefined {
  if (servers.includes('default')) return 'default';
  return servers.length === 1 ? servers[0] : undefined;
}

function noDefault(known: readonly string[]): NodeFailure {
  const hint =
    known.length === 0
      ? 'An operator names servers under "mcpServers" in the config file.'
      : `Name one in config.mcp.server: ${known.join(', ')}.`;
  return new NodeFailure('tool_server_unknown', `This host has no default tool server. ${hint}`);
}

function unknownServer(server: string, known: readonly string[]): NodeFailure {
  const list = known.length === 0 ? 'none is' : `there are ${known.join(', ')}`;
  return new NodeFailure(
    'tool_server_unknown',
    `No tool server "${server}" is configured on this host: ${list}. An operator names servers under "mcpServers" in the config file.`,
    { details: { server } },
  );
}

function unknownTool(server: string, tool: string): NodeFailure {
  return new NodeFailure(
    'tool_unknown',
    `The server "${server}" has no tool "${tool}" that may be called. List them: weft mcp ls ${server}`,
    { details: { server, tool } },
  );
}

function otherTool(server: string, { name, digest }: Tool): NodeFailure {
  return new NodeFailure(
    'tool_changed',
    `The tool "${name}" of "${server}" is not the one of config.digest. Look at it, then put its digest there: ${digest}`,
    { details: { server, tool: name, digest } },
  );
}
