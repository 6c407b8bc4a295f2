import { isJsonObject, type Json, type JsonObject, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import type { PureNodeType } from '../model/node-type.ts';
import { type AgentScript, agentTurn, type ToolCall } from './agent-script.ts';
import { isSuiteWorkflow, SUITE_PREFIX } from './suite-workflows.ts';
import { agentIdOf } from '../nodes/people/confidence.ts';
import { closedConfig, jsonObject, name } from '../nodes/config/config-schema.ts';

const optional = Type.Optional;
const text = Type.String();
const agentId = nameOf({ minLength: 3 });
const anything = Type.Unknown();
const share = Type.Number({ minimum: 0, maximum: 1 });

export const mockAgentNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.conformance.mock-agent',
  title: 'Mock agent',
  summary: 'Tells of an agent’s turn exactly as its config says; for test hosts and test workflows only.',
  conformanceOnly: true,
  config: closedConfig({
    agentId: optional(agentId),
    mockReasoning: optional(
      Type.Union([
        Type.Boolean(),
        closedConfig({
          summary: text,
          trace: optional(text),
          tokenCount: optional(Type.Integer({ minimum: 0 })),
          streamChunks: optional(Type.Array(text)),
        }),
      ]),
    ),
    mockToolCalls: optional(
      Type.Array(
        closedConfig({
          toolId: name,
          arguments: optional(anything),
          result: optional(anything),
          error: optional(jsonObject),
          durationMs: optional(Type.Integer({ minimum: 0 })),
        }),
      ),
    ),
    mockHandoff: optional(
      closedConfig({ toAgentId: agentId, reason: optional(text), context: optional(anything) }),
    ),
    mockDecision: optional(
      closedConfig({ decision: anything, confidence: optional(share), reasoning: optional(text) }),
    ),
    mockConfidence: optional(share),
  }),
  outputPorts: ['output', 'decision', 'ratified', 'action'],
  dependsOn: () => [],
  prepare: (config, tools) => {
    if (!isSuiteWorkflow(tools.workflowId)) {
      tools.refuse('', `The mock agent works only in workflows whose id begins with "${SUITE_PREFIX}".`);
    }
    const calls = (config['mockToolCalls'] ?? []) as JsonObject[];
    const open = calls.findIndex(({ result, error }) => result === undefined && error === undefined);
    if (open !== -1) tools.refuse(`/mockToolCalls/${open}`, 'A tool call needs a result or an error.');
  },
  run: (input) => {
    const { config } = input;
    const id = config['agentId'];
    const script: AgentScript = {
      agentId: typeof id === 'string' ? id : agentIdOf(input, 'mock-agent'),
      ...reasoning(config['mockReasoning']),
      ...(config['mockToolCalls'] !== undefined && {
        toolCalls: (config['mockToolCalls'] as JsonObject[]).map(toolCall),
      }),
      ...(config['mockHandoff'] !== undefined && {
        handoff: config['mockHandoff'] as unknown as NonNullable<AgentScript['handoff']>,
      }),
      ...decision(config),
    };
    return agentTurn(input, script, {});
  },
  answered: (_input, answer) => ({ outputs: { ...answer, output: answer['decision'] ?? null } }),
};

function reasoning(mock: Json | undefined): Pick<AgentScript, 'reasoning'> {
  if (mock === true) return { reasoning: { text: 'Considered the task and chose the next step.' } };
  if (!isJsonObject(mock)) return {};
  const { summary, trace, streamChunks } = mock;
  return {
    reasoning: {
      text: String(trace ?? summary),
      summary: String(summary),
      ...(Array.isArray(streamChunks) && { deltas: streamChunks.map(String) }),
    },
  };
}

function toolCall({ toolId, arguments: inputs, result, error, durationMs }: JsonObject): ToolCall {
  return {
    toolName: String(toolId),
    ...(inputs !== undefined && { inputs }),
    ...(isJsonObject(error) ? { error: toolError(error) } : { outcome: result ?? null }),
    ...(typeof durationMs === 'number' && { durationMs }),
  };
}

/** The config names an error as HTTP does; events name it with code and message. */
function toolError(error: JsonObject): JsonObject {
  const { error: name, ...rest } = error;
  return { code: name ?? 'tool_failed', message: 'The tool failed.', ...rest };
}

function decision(config: JsonObject): Pick<AgentScript, 'decision'> {
  const made = config['mockDecision'];
  const confidence = config['mockConfidence'];
  if (isJsonObject(made)) {
    const sure = typeof confidence === 'number' && made['confidence'] === undefined ? { confidence } : {};
    return { decision: { ...made, ...sure } as unknown as NonNullable<AgentScript['decision']> };
  }
  return typeof confidence === 'number' ? { decision: { decision: { kind: 'mock' }, confidence } } : {};
}
