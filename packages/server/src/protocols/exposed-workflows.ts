import { createHash } from 'node:crypto';
import type { Caller, Host } from '@weft/engine';
import {
  isJsonObject,
  isName,
  type Json,
  type JsonObject,
  type WorkflowDefinition,
  workflowInputSchema,
} from '@weft/protocol';

/** Where a workflow asks to be offered, in its `metadata.weft`: to assistants, or to agents of other hosts. */
export type Offer = 'mcp' | 'a2a';

/** A workflow that asks to be offered: `metadata.weft.mcp: true`, `metadata.weft.a2a: true`. */
export interface ExposedWorkflow {
  /** Of the tool. */
  readonly name: string;
  readonly workflowId: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly variables: WorkflowDefinition['variables'];
}

/** An assistant that is given more tools than this chooses badly among them, and a list of them costs a definition each. */
export const MAX_EXPOSED = 128;
/** Registered versions that are looked at for them: a definition each is read for one small request. */
const MAX_LOOKED_AT = 500;

/** In the order of the host's list, each with its current version. */
export async function exposedWorkflows(host: Host, caller: Caller, offer: Offer): Promise<ExposedWorkflow[]> {
  const exposed: ExposedWorkflow[] = [];
  const { rows } = await host.workflows.list(caller, { limit: MAX_LOOKED_AT });
  for (const { id, current } of rows) {
    const definition = current ? await host.workflows.get(caller, id) : undefined;
    if (definition === undefined || !isExposed(definition, offer)) continue;
    exposed.push(toolOf(definition));
    if (exposed.length === MAX_EXPOSED) break;
  }
  return exposed;
}

/** The workflow behind a tool: by its id, where that is the name. */
export async function exposedWorkflow(
  host: Host,
  caller: Caller,
  name: string,
): Promise<ExposedWorkflow | undefined> {
  const definition = isName(name) ? await host.workflows.get(caller, name) : undefined;
  if (definition !== undefined && isExposed(definition, 'mcp') && toolName(definition.id) === name)
    return toolOf(definition);
  const isMarked = name.startsWith(MARK);
  return isMarked
    ? (await exposedWorkflows(host, caller, 'mcp')).find((each) => each.name === name)
    : undefined;
}

/** The workflow behind a skill, whose id is that of the workflow. */
export async function exposedSkill(
  host: Host,
  caller: Caller,
  workflowId: string,
): Promise<ExposedWorkflow | undefined> {
  const definition = isName(workflowId) ? await host.workflows.get(caller, workflowId) : undefined;
  return definition !== undefined && isExposed(definition, 'a2a') ? toolOf(definition) : undefined;
}

function isExposed({ metadata }: WorkflowDefinition, offer: Offer): boolean {
  const own = (metadata as JsonObject)['weft'];
  return isJsonObject(own) && own[offer] === true;
}

function toolOf({ id, name, description, variables }: WorkflowDefinition): ExposedWorkflow {
  return {
    name: toolName(id),
    workflowId: id,
    variables,
    title: name,
    description:
      description ??
      `Runs the workflow "${name}" durably and answers with its outputs, or with what it waits for.`,
    inputSchema: workflowInputSchema(variables),
  };
}

/** What is wrong with the arguments of a call; undefined when nothing is. */
export function argumentProblem({ variables }: ExposedWorkflow, given: JsonObject): string | undefined {
  const known = new Map(variables.map((variable) => [variable.name, variable]));
  for (const [name, value] of Object.entries(given)) {
    const variable = known.get(name);
    if (variable === undefined)
      return `arguments.${name}: unknown; there ${known.size === 0 ? 'are none' : `are ${[...known.keys()].join(', ')}`}`;
    if (typeOf(value) !== variable.type) return `arguments.${name}: must be of type ${variable.type}`;
  }
  const missing = variables.find(
    ({ name, required, defaultValue }) =>
      required === true && defaultValue === undefined && !Object.hasOwn(given, name),
  );
  return missing && `arguments.${missing.name}: missing`;
}

function typeOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

const NAME_LENGTH = 64;
const MARK = 'run_';

/** A workflow's id, which has only characters that clients take. One that is long, or could be taken for a tool of ours, is marked. */
export function toolName(workflowId: string): string {
  if (workflowId.length <= NAME_LENGTH && !workflowId.startsWith('weft_')) return workflowId;
  const mark = createHash('sha256').update(workflowId).digest('hex').slice(0, 8);
  return `${MARK}${workflowId.slice(0, NAME_LENGTH - mark.length - 5)}_${mark}`;
}
