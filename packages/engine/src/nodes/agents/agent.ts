import type { Json, JsonObject } from '@weft/protocol';
import {
  type EffectContext,
  type NodeEvent,
  NodeFailure,
  type NodeInput,
  type NodeResult,
  type Question,
  type StepInput,
  type StepMove,
  type StepRequest,
  type StepsNodeType,
} from '../../model/node-type.ts';
import type { ToolResult } from '../../ports/tools.ts';
import { evaluateOrFail } from '../config/expressions-in-config.ts';
import { agentIdOf, doubt } from '../people/confidence.ts';
import { AGENT_CONFIG, type PreparedAgent, prepareAgent, toolWorkflows, turnLimit } from './agent-config.ts';
import { callIdOf, tellLast } from './agent-events.ts';
import {
  type AgentHistory,
  approvalStep,
  type Call,
  DOUBT_STEP,
  labelOf,
  type ListedTool,
  PROMPTS_STEP,
  readHistory,
  TOOLS_STEP,
  type Turn,
} from './agent-history.ts';
import { modelRequest, rulesOf } from './agent-transcript.ts';
import { readAnswer } from './answer.ts';
import { afterAnswer } from './after-answer.ts';
import { askModel, thinkingAloud, turnRequest } from './model-turn.ts';
import { offeredTools } from './offered-tools.ts';
import { asReturnFailure, checkTask, confidenceOf, withTools } from './pack-agent.ts';
import { stepFailure } from './step-failure.ts';
import { planCall } from './tool-calls.ts';
import { COMPOSING, composeTemplates, hasPromptRefs, tellComposed } from './prompt-refs.ts';
import { listedNode } from './node-tools.ts';
import { matchesTool, pinTools, type ToolPattern } from './tool-patterns.ts';
import { listedWorkflow } from './workflow-tools.ts';

/**
 * A model that calls tools until it has an answer. Every turn of the model and every call of a tool is a step of the node, with its own
 * durable outcome: what the agent knows is what is on record of them.
 *
 *   tools listed ──► turn ──calls──► calls that need no one ──► calls that a person has accepted, one by one ──► turn
 *                      └──answer──► done
 */
export const agentNode: StepsNodeType = {
  kind: 'steps',
  typeId: 'weft.ai.agent',
  title: 'Agent',
  summary: 'Lets a language model call tools, turn by turn, until it has an answer.',
  config: AGENT_CONFIG,
  outputPorts: ['output', 'text', 'turns', 'model', 'finishReason', 'usage', 'error'],
  branches: ['output', 'error'],
  asksModel: true,
  pinTypes: pinTools,
  takesAgent: withTools,
  childWorkflows: toolWorkflows,
  performers: (prepared) => (prepared as PreparedAgent).nodeTools,
  dependsOn: (config) => (hasPromptRefs(config) ? undefined : ['prompt', 'input']),
  defaultTimeoutMs: 300_000,
  prepare: prepareAgent,
  answered: checkRatified,
  next(input, steps) {
    const history = readHistory(steps);
    const offered = offeredTools(history.tools);
    const events = [
      ...tellComposed(input, history.prompts, steps),
      ...tellLast(input, history, offered, steps, rulesOf(input)),
    ];
    const doubted = steps.find(({ id }) => id === DOUBT_STEP)?.result;
    const move =
      doubted === undefined ? nextMove(input, history, offered) : afterDoubt(input, history, doubted);
    return { ...move, events: [...events, ...(move.events ?? [])] };
  },
  perform(input, context) {
    const { id } = input.step;
    if (id === TOOLS_STEP) return listTools(input, context);
    if (id === PROMPTS_STEP) return composeTemplates(input, context);
    if (id.includes('.call-')) return callTool(input, context);
    const asked = modelRequest(input, readHistory(input.step.history));
    const thinking = thinkingAloud(context, agentIdOf(input, 'agent'), input.configurable);
    return askModel(asked, input.configurable, context.models, thinking);
  },
};

function nextMove(
  input: NodeInput,
  history: AgentHistory,
  offered: ReadonlyMap<string, ListedTool>,
): StepMove {
  const { list, prompts, turns } = history;
  const first = firstSteps(input, history);
  if (first.length > 0) return { steps: first };
  for (const record of [prompts, list])
    if (record?.error !== undefined) return { failure: stepFailure(record) };
  const turn = turns.at(-1);
  if (turn === undefined) return nextTurn(input, history);
  if (turn.record.error !== undefined) return { failure: stepFailure(turn.record) };
  if (turn.calls.length === 0) return answered(input, history, turn);
  return nextCalls(input, turn, offered) ?? afterCalls(input, history, turn);
}

/** What is done before the first turn. Throws NodeFailure where the agent is given what it does not take. */
function firstSteps(
  { prepared, config, inputs }: NodeInput,
  { list, prompts, turns }: AgentHistory,
): StepRequest[] {
  const { tools, taskSchema } = prepared as PreparedAgent;
  if (list === undefined && prompts === undefined && turns.length === 0)
    checkTask(taskSchema, inputs['input']);
  return [
    ...(prompts === undefined && hasPromptRefs(config) ? [COMPOSING] : []),
    ...(list === undefined && tools.length > 0 ? [listing(tools)] : []),
  ];
}

function listing(tools: readonly ToolPattern[]): StepRequest {
  const servers = tools.filter(({ source }) => source === 'mcp').map(({ server }) => server);
  const workflows = tools.filter(({ source }) => source === 'workflow').map(({ tool }) => tool);
  return {
    id: TOOLS_STEP,
    request: { servers: [...new Set(servers)], ...(workflows.length > 0 && { workflows }) },
    onUnknownOutcome: 'repeat',
  };
}

function nextTurn(input: NodeInput, history: AgentHistory): StepMove {
  const turn = history.turns.length + 1;
  const limit = turnLimit(input.config);
  if (turn > limit) {
    const message = `The agent may take ${limit} turns and has no answer yet. Raise maxTurns, or give it less to do.`;
    return { failure: new NodeFailure('agent_turn_limit', message, { details: { limit } }) };
  }
  return { steps: [{ ...turnRequest(turn, modelRequest(input, history)), onUnknownOutcome: 'repeat' }] };
}

/** Calls that need no one side by side; then workflows and those that need someone, one after the other. Undefined when all have come to their end. */
function nextCalls(
  input: NodeInput,
  turn: Turn,
  offered: ReadonlyMap<string, ListedTool>,
): StepMove | undefined {
  const ready: StepRequest[] = [];
  let later: StepMove | undefined;
  for (const call of turn.calls) {
    const planned = planCall(call, offered, input.prepared as PreparedAgent);
    if (planned.type !== 'call' || planned.state === 'ended') continue;
    const { tool, arguments: inputs } = planned;
    if (planned.state !== 'ready')
      later ??= { ask: approvalOf(input, call, planned), step: approvalStep(call.id) };
    else if (tool.source === 'workflow')
      later ??= { child: { workflowId: tool.name, inputs }, step: call.id };
    else ready.push(calling(call, tool, inputs));
  }
  return ready.length > 0 ? { steps: ready } : later;
}

function calling({ id }: Call, tool: ListedTool, given: JsonObject): StepRequest {
  const { source, server, name, digest, isReadOnly, isIdempotent } = tool;
  if (source === 'node') return { id, request: { node: name, digest, arguments: given } };
  return {
    id,
    request: { server, tool: name, digest, arguments: given },
    onUnknownOutcome: isReadOnly || isIdempotent ? 'repeat' : 'fail',
  };
}

/** Shows what will be sent, and nothing else will be. */
function approvalOf(
  input: NodeInput,
  call: Call,
  { tool, arguments: given }: { readonly tool: ListedTool; readonly arguments: JsonObject },
): Question {
  const { source, server, name, digest, isDestructive } = tool;
  return {
    kind: 'approval',
    data: {
      artifactId: callIdOf(input, call),
      artifactType: 'tool-call',
      title: source === undefined ? `Call ${name} of ${server}?` : `Call ${labelOf(tool)}?`,
      actions: ['accept', 'reject'],
      artifactData: {
        ...(source === undefined ? { server } : { source }),
        tool: name,
        arguments: given,
        digest,
        isDestructive,
      },
    },
  };
}

function afterCalls(input: NodeInput, history: AgentHistory, turn: Turn): StepMove {
  const unknown = turn.calls.find(({ record }) => record?.error?.code === 'effect_outcome_unknown');
  if (unknown?.record !== undefined) return { failure: stepFailure(unknown.record) };
  const { stopWhen } = input.prepared as PreparedAgent;
  const soFar = {
    turns: history.turns.length,
    text: turn.text,
    toolCalls: turn.calls.map(({ asked }) => asked.name),
    results: turn.calls.map(({ record }) => record?.result ?? null),
  };
  const isOver =
    stopWhen !== undefined && evaluateOrFail(() => stopWhen(input.scopeWith(soFar), input.budget)) === true;
  return isOver ? stopped(input, history, turn) : nextTurn(input, history);
}

function answered(input: NodeInput, history: AgentHistory, turn: Turn): StepMove {
  const after = afterAnswer(input.nodeId, history.turns, rulesOf(input));
  switch (after.type) {
    case 'answer':
      return done(input, history, turn, after.value);
    case 'reported':
      return reported(history, turn, after.error);
    case 'again': {
      const { events } = after;
      return { ...nextTurn(input, history), events };
    }
    case 'ask':
      return after;
    default:
      return { ...after, failure: asReturnFailure(after.failure, (input.prepared as PreparedAgent).agent) };
  }
}

/** A model that says what it cannot do has done its work: the node completes, by another port. */
function reported({ turns }: AgentHistory, turn: Turn, error: JsonObject): NodeResult {
  const { text, model, finishReason } = turn;
  return { outputs: { error, text, turns: turns.length, model, finishReason, usage: usageOf(turns) } };
}

/** Of an agent that was stopped early: what it has said, in the shape of an answer if it has one. */
function stopped(input: NodeInput, history: AgentHistory, turn: Turn): StepMove {
  const rules = rulesOf(input);
  const verdict = readAnswer(turn, rules);
  if (verdict.type === 'answer') return done(input, history, turn, verdict.value);
  if ((input.prepared as PreparedAgent).agent?.returnSchema !== undefined) {
    const message = 'The agent was stopped before it had an answer that fits the schema of its pack.';
    return { failure: new NodeFailure('handoff_return_schema_violation', message) };
  }
  return done(input, history, turn, rules.schema === undefined ? turn.text : null);
}

function done(input: NodeInput, history: AgentHistory, turn: Turn, output: Json): StepMove {
  const { agent } = input.prepared as PreparedAgent;
  const agentId = agentIdOf(input, 'agent');
  const confidence = confidenceOf(output, agent);
  const payload = { agentId, decision: output, ...(confidence !== undefined && { confidence }) };
  const events: NodeEvent[] = [{ type: 'agent.decided', payload }];
  const ask = doubt(input, agentId, output, confidence, agent?.confidenceThreshold);
  if (ask !== undefined) return { ask, step: DOUBT_STEP, events };
  return { ...resultOf(history, turn, output), events };
}

/** A person has taken the answer as it is, given another one, or rejected it. */
function afterDoubt(input: NodeInput, history: AgentHistory, { decision }: JsonObject): StepMove {
  const turn = history.turns.at(-1);
  if (decision === undefined || turn === undefined)
    return { failure: new NodeFailure('decision_rejected', 'The decision was rejected.') };
  return resultOf(history, turn, decision);
}

/** Throws NodeFailure for an answer in place of the agent's that its pack does not let it return. */
function checkRatified(input: NodeInput, { decision = null }: JsonObject): NodeResult {
  const { schema } = rulesOf(input);
  const [problem] = schema?.(decision, input.budget) ?? [];
  if (problem === undefined) return { outputs: {} };
  const message = `That is not what the agent may return: ${problem.path} ${problem.message}.`;
  throw new NodeFailure('handoff_return_schema_violation', message);
}

function resultOf({ turns }: AgentHistory, turn: Turn, output: Json): NodeResult {
  const { text, model, finishReason } = turn;
  return { outputs: { output, text, turns: turns.length, model, finishReason, usage: usageOf(turns) } };
}

function usageOf(turns: readonly Turn[]): JsonObject {
  const sum = (count: (turn: Turn) => number) => turns.reduce((all, turn) => all + count(turn), 0);
  return {
    promptTokens: sum(({ usage }) => usage.promptTokens),
    completionTokens: sum(({ usage }) => usage.completionTokens),
    totalTokens: sum(({ usage }) => usage.totalTokens),
  };
}

const MAX_TOOLS = 128;
const MAX_LIST_BYTES = 131_072;

async function listTools({ prepared, step }: StepInput, context: EffectContext): Promise<JsonObject> {
  const { tools: patterns, nodeTools } = prepared as PreparedAgent;
  const tools: JsonObject[] = [];
  for (const server of step.request['servers'] as string[]) {
    for (const tool of await context.tools.list(server, context))
      if (matchesTool(patterns, { server, name: tool.name })) tools.push({ server, ...tool });
  }
  for (const type of nodeTools.values()) tools.push({ ...listedNode(type) });
  for (const workflowId of (step.request['workflows'] ?? []) as string[])
    tools.push({ ...(await listedWorkflow(workflowId, context)) });
  const size = JSON.stringify(tools).length;
  if (tools.length > MAX_TOOLS || size > MAX_LIST_BYTES) {
    throw new NodeFailure(
      'agent_tools_too_many',
      `The agent would be offered ${tools.length} tools, ${size} bytes of definitions; the limits are ${MAX_TOOLS} and ${MAX_LIST_BYTES}. Name fewer of them in config.tools.`,
      { details: { limit: MAX_TOOLS, observed: tools.length } },
    );
  }
  return { tools };
}

const MAX_RESULT_BYTES = 131_072;

/** A tool that is not the one that was offered, and that a person may have accepted, is not called. */
async function callTool({ step }: StepInput, context: EffectContext): Promise<JsonObject> {
  const {
    server,
    tool,
    digest,
    arguments: given,
  } = step.request as {
    readonly server: string;
    readonly tool: string;
    readonly digest: string;
    readonly arguments: JsonObject;
  };
  const offered = (await context.tools.list(server, context)).find(({ name }) => name === tool);
  if (offered?.digest !== digest) {
    throw new NodeFailure(
      'tool_changed',
      `Server "${server}" has another tool "${tool}" now than when the agent began, or none. It was not called.`,
    );
  }
  const result: ToolResult = await context.tools.call({ server, tool, arguments: given }, context);
  const { content, structuredContent, isError } = result;
  const recorded: JsonObject = {
    content: [...content],
    ...(structuredContent !== undefined && { structuredContent }),
    isError,
  };
  const size = JSON.stringify(recorded).length;
  if (size <= MAX_RESULT_BYTES) return recorded;
  throw new NodeFailure(
    'tool_result_too_large',
    `The answer of "${tool}" takes ${size} bytes; the limit is ${MAX_RESULT_BYTES}. The call was made.`,
  );
}
