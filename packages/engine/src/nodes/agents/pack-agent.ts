import {
  type ClientSchema,
  isHostError,
  isJsonObject,
  type Json,
  type JsonObject,
  WorkBudget,
} from '@weft/protocol';
import type { InstalledAgent } from '../../model/installed-agent.ts';
import { NodeFailure, type PrepareTools } from '../../model/node-type.ts';
import { covers, parseToolPattern, type ToolPattern } from './tool-patterns.ts';

/**
 * What an agent of a pack and the config of its node say together. The pack decides on the instructions, on the tools that
 * it may be given and on what it returns; the node says what it is asked, chooses the model, and may give it fewer tools.
 */

/** Its tools are written out: the registered form says what the agent gets, with the versions of node types. */
export function withTools(config: JsonObject, { toolAllowlist }: InstalledAgent): JsonObject {
  if (config['tools'] !== undefined || toolAllowlist.length === 0) return config;
  return { ...config, tools: toolAllowlist.map(asConfigured) };
}

/** In the words of `tools` in a config. */
function asConfigured(allowed: string): string {
  return allowed.replace(/^weft\.(?=(?:node|workflow):)/, '');
}

const OWN = {
  instructions: 'The agent has a prompt of its own.',
  systemPromptRef: 'The agent has a prompt of its own.',
} as const;

/** Refuses what the agent does not leave to its node. */
export function refuseOverrides(
  config: JsonObject,
  agent: InstalledAgent,
  offered: readonly ToolPattern[],
  tools: Pick<PrepareTools, 'refuse'>,
): void {
  for (const [field, why] of Object.entries(OWN))
    if (config[field] !== undefined) tools.refuse(`/${field}`, `${why} Remove "${field}".`);
  if (agent.returnSchema !== undefined && config['outputSchema'] !== undefined)
    tools.refuse(
      '/outputSchema',
      'The agent has a schema of its own for what it returns. Remove "outputSchema".',
    );
  const allowed = agent.toolAllowlist
    .map((tool) => parseToolPattern(asConfigured(tool)))
    .filter((pattern) => typeof pattern !== 'string');
  for (const [index, pattern] of offered.entries())
    if (!covers(allowed, pattern))
      tools.refuse(
        `/tools/${index}`,
        `The pack of the agent does not let it call this tool; it allows ${agent.toolAllowlist.join(', ') || 'none'}.`,
      );
}

/** The config by which the model is asked. */
export function configOf(config: JsonObject, agent: InstalledAgent | undefined): JsonObject {
  if (agent === undefined) return config;
  const { systemPrompt, returnSchema } = agent;
  return {
    ...config,
    instructions: systemPrompt,
    ...(returnSchema !== undefined && { outputSchema: returnSchema }),
  };
}

/** Before anything is asked. Throws NodeFailure. */
export function checkTask(schema: ClientSchema | undefined, task: Json | undefined): void {
  const problem = schema && problemWith(task, schema);
  if (problem === undefined) return;
  throw new NodeFailure(
    'handoff_task_schema_violation',
    `What the agent is given on the port "input" does not fit the schema of its pack: ${problem}.`,
  );
}

function problemWith(task: Json | undefined, schema: ClientSchema): string | undefined {
  if (task === undefined) return 'there is nothing';
  try {
    const [problem] = schema(task, new WorkBudget());
    return problem && `${problem.path === '' ? 'it' : problem.path} ${problem.message}`;
  } catch (error) {
    if (!isHostError(error)) throw error;
    return error.message;
  }
}

/** How sure an agent of a pack is, where its answer says so. */
export function confidenceOf(answer: Json, agent: InstalledAgent | undefined): number | undefined {
  const confidence = agent !== undefined && isJsonObject(answer) ? answer['confidence'] : undefined;
  return typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? confidence : undefined;
}

/** An agent whose answers never fitted has failed its pack, not a schema of the node. */
export function asReturnFailure(failure: NodeFailure, agent: InstalledAgent | undefined): NodeFailure {
  if (agent?.returnSchema === undefined || failure.code !== 'envelope_invalid') return failure;
  const { message, details } = failure;
  return new NodeFailure(
    'handoff_return_schema_violation',
    message,
    details === undefined ? {} : { details },
  );
}
