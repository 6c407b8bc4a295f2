import { type ClientSchema, type JsonObject, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import type { Expression } from '../../core/compile/plan.ts';
import type { InstalledAgent } from '../../model/installed-agent.ts';
import type { EffectNodeType, PrepareTools } from '../../model/node-type.ts';
import { closedConfig, jsonObject } from '../config/config-schema.ts';
import { compileOrRefuse } from '../config/expressions-in-config.ts';
import { checkSchema } from '../config/schema-in-config.ts';
import { PROMPT_REFS, refuseBoth } from './prompt-refs.ts';
import { nodeToolsIn } from './node-tools.ts';
import { configOf, refuseOverrides } from './pack-agent.ts';
import { parseToolPattern, type ToolPattern } from './tool-patterns.ts';

const optional = Type.Optional;
const text = Type.String({ minLength: 1, maxLength: 65_536 });
const patterns = Type.Array(nameOf({ minLength: 1, maxLength: 256 }), { maxItems: 64, uniqueItems: true });

export const MAX_TURNS = 100;
export const DEFAULT_TURNS = 10;

export const AGENT_CONFIG = closedConfig({
  model: optional(nameOf({ minLength: 1, maxLength: 256 })),
  instructions: optional(text),
  systemPromptRef: PROMPT_REFS.systemPromptRef,
  prompt: optional(text),
  userPromptRef: PROMPT_REFS.userPromptRef,
  tools: optional(patterns),
  maxTurns: optional(Type.Integer({ minimum: 1, maximum: MAX_TURNS })),
  stopWhen: optional(Type.String({ minLength: 1 })),
  outputSchema: optional(jsonObject),
  envelopes: optional(Type.Boolean()),
  requireApproval: optional(patterns),
  allowWithoutApproval: optional(patterns),
});

/** The config, made ready when the workflow is registered. */
export interface PreparedAgent {
  readonly tools: readonly ToolPattern[];
  /** Those among them that are node types, by type id. */
  readonly nodeTools: ReadonlyMap<string, EffectNodeType>;
  readonly requireApproval: readonly ToolPattern[];
  readonly allowWithoutApproval: readonly ToolPattern[];
  readonly stopWhen?: Expression;
  readonly outputSchema?: ClientSchema;
  /** Of a pack. */
  readonly agent?: InstalledAgent;
  readonly taskSchema?: ClientSchema;
}

export const NO_TOOL_PATTERNS: PreparedAgent = {
  tools: [],
  nodeTools: new Map(),
  requireApproval: [],
  allowWithoutApproval: [],
};

/** The instructions of an agent, and its prompt. */
const WORDS = [
  ['instructions', 'systemPromptRef'],
  ['prompt', 'userPromptRef'],
] as const;

/** An agent of a pack has its instructions from there; its prompt may be the task that it is given. */
function checkWords(config: JsonObject, { agent, refuse }: PrepareTools): void {
  const needed = agent === undefined ? WORDS : agent.taskSchema === undefined ? WORDS.slice(1) : [];
  for (const [own, ref] of needed)
    if (config[own] === undefined && config[ref] === undefined)
      refuse('', `The agent needs "${own}", or "${ref}" to take them from the library.`);
}

export function prepareAgent(config: JsonObject, tools: PrepareTools): PreparedAgent {
  const { agent } = tools;
  const { stopWhen } = config;
  checkSchema(tools, '/outputSchema', config['outputSchema']);
  refuseBoth(config, tools, { instructions: 'systemPromptRef', prompt: 'userPromptRef' });
  checkWords(config, tools);
  const offered = patternsIn(config, 'tools', tools);
  for (const [index, { source, tool }] of offered.entries()) {
    if (source !== 'mcp' && tool.includes('*'))
      tools.refuse(`/tools/${index}`, `Name each ${source} in full; "*" is for tools of MCP servers.`);
    if (source === 'workflow' && tool === tools.workflowId)
      tools.refuse(`/tools/${index}`, 'A workflow cannot be a tool of its own agent.');
  }
  if (agent !== undefined) refuseOverrides(config, agent, offered, tools);
  const { outputSchema } = configOf(config, agent);
  return {
    ...(agent !== undefined && { agent }),
    ...(agent?.taskSchema !== undefined && { taskSchema: tools.schemas.schema(agent.taskSchema) }),
    tools: offered,
    nodeTools: nodeToolsIn(offered, tools),
    requireApproval: patternsIn(config, 'requireApproval', tools),
    allowWithoutApproval: patternsIn(config, 'allowWithoutApproval', tools),
    ...(typeof stopWhen === 'string' && {
      stopWhen: compileOrRefuse(tools, '/stopWhen', () => tools.expressions.compile(stopWhen)),
    }),
    ...(outputSchema !== undefined && { outputSchema: tools.schemas.schema(outputSchema as JsonObject) }),
  };
}

function patternsIn(config: JsonObject, field: string, tools: PrepareTools): ToolPattern[] {
  const listed = (config[field] ?? []) as readonly string[];
  return listed.map((source, index) => {
    const pattern = parseToolPattern(source);
    return typeof pattern === 'string' ? tools.refuse(`/${field}/${index}`, pattern) : pattern;
  });
}

export function turnLimit(config: JsonObject): number {
  const { maxTurns } = config;
  return typeof maxTurns === 'number' ? maxTurns : DEFAULT_TURNS;
}

/** By the place in the config that names them. */
export function toolWorkflows({ tools }: JsonObject): Record<string, string> {
  const named: [string, string][] = [];
  for (const [index, text] of (Array.isArray(tools) ? tools : []).entries()) {
    const pattern = typeof text === 'string' ? parseToolPattern(text) : '';
    if (typeof pattern !== 'string' && pattern.source === 'workflow')
      named.push([`/tools/${index}`, pattern.tool]);
  }
  return Object.fromEntries(named);
}
