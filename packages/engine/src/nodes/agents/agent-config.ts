import { type ClientSchema, type JsonObject, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import type { Expression } from '../../core/compile/plan.ts';
import type { PrepareTools } from '../../model/node-type.ts';
import { closedConfig, jsonObject } from '../config/config-schema.ts';
import { compileOrRefuse } from '../config/expressions-in-config.ts';
import { checkSchema } from '../config/schema-in-config.ts';
import { parseToolPattern, type ToolPattern } from './tool-patterns.ts';

const optional = Type.Optional;
const text = Type.String({ minLength: 1, maxLength: 65_536 });
const patterns = Type.Array(nameOf({ minLength: 1, maxLength: 256 }), { maxItems: 64, uniqueItems: true });

export const MAX_TURNS = 100;
export const DEFAULT_TURNS = 10;

export const AGENT_CONFIG = closedConfig({
  model: optional(nameOf({ minLength: 1, maxLength: 256 })),
  instructions: text,
  prompt: text,
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
  readonly requireApproval: readonly ToolPattern[];
  readonly allowWithoutApproval: readonly ToolPattern[];
  readonly stopWhen?: Expression;
  readonly outputSchema?: ClientSchema;
}

export const NO_TOOL_PATTERNS: PreparedAgent = { tools: [], requireApproval: [], allowWithoutApproval: [] };

export function prepareAgent(config: JsonObject, tools: PrepareTools): PreparedAgent {
  const { stopWhen, outputSchema } = config;
  checkSchema(tools, '/outputSchema', outputSchema);
  return {
    tools: patternsIn(config, 'tools', tools),
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
