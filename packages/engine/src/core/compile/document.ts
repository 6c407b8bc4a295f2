import {
  assertValid,
  compileValidator,
  HostError,
  isJsonObject,
  type Json,
  type JsonObject,
  type Problem,
  type WorkflowDefinition,
  type WorkflowNode,
  WorkBudget,
  WorkflowDefinitionSchema,
  type WorkLimits,
} from '@weft/protocol';
import type { NodeType } from '../../model/node-type.ts';
import { type BrokenParts, standIn } from './broken-parts.ts';
import { pointer, type Problems, schemaMessage } from './problems.ts';
import type { SchemaCompiler, VariablePlan } from './plan.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/** What can be said about a definition before its graph is looked at. */

const checkDefinition = compileValidator(WorkflowDefinitionSchema);

/** Makes the checks of definitions ready. It takes a tenth of a second, for which no one should wait later. */
export function warmUpChecks(): void {
  checkDefinition({}); // is refused, so that both forms of the check are made
}

export interface Shape {
  readonly document: WorkflowDefinition;
  readonly broken: BrokenParts;
}

/** The definition when its shape allows looking further, even if something in it is wrong. */
export function* checkShape(definition: unknown, problems: Problems): CooperativeTask<Shape | undefined> {
  const broken: BrokenParts = { nodes: new Set(), edges: new Set(), variables: new Set() };
  const seen = new Set<string>();
  let found = yield* findProblems(definition);
  if (found.length === 0) return { document: definition as WorkflowDefinition, broken };
  const copy = isJsonObject(definition) ? structuredClone(definition) : undefined;
  // Of a large definition each look finds one mistake of a slice only, and what stood in its way is gone at the next.
  for (let looks = 0; looks < MAX_LOOKS && found.length > 0; looks += 1) {
    let canContinue = copy !== undefined;
    for (const problem of found) {
      const isNew = !seen.has(`${problem.path} ${problem.message}`);
      if (isNew) problems.error(problem.path, 'schema', schemaMessage(problem));
      seen.add(`${problem.path} ${problem.message}`);
      canContinue = canContinue && standIn(copy as JsonObject, problem, broken);
    }
    if (!canContinue || seen.size >= MAX_PROBLEMS) return undefined;
    found = yield* findProblems(copy);
  }
  return found.length === 0 ? { document: copy as unknown as WorkflowDefinition, broken } : undefined;
}

const MAX_LOOKS = 4;

/** Nodes and edges that are looked at in one go. */
const SLICE = 50;
/** A longer list is not understood better; where it ends, nothing is known of the rest. */
const MAX_PROBLEMS = 20;

/**
 * Looks at a large definition in slices, so that neither a right one nor the list of all that is wrong keeps others waiting:
 * nodes and edges are evaluated one by one, so the whole is right when all slices are.
 */
function* findProblems(definition: unknown): CooperativeTask<Problem[]> {
  const { nodes, edges, ...rest } = (definition ?? {}) as Partial<WorkflowDefinition>;
  if (!Array.isArray(nodes) || !Array.isArray(edges)) return [...checkDefinition(definition)];
  const longest = Math.max(nodes.length, edges.length);
  if (longest <= SLICE) return [...checkDefinition(definition)];
  const found: Problem[] = [];
  let around: object = rest;
  for (let from = 0; from < longest && found.length < MAX_PROBLEMS; from += SLICE) {
    const inSlice = nodes.slice(from, from + SLICE);
    const slice = {
      ...around,
      nodes: inSlice.length > 0 ? inSlice : [ANY_NODE],
      edges: edges.slice(from, from + SLICE),
    };
    for (const problem of checkDefinition(slice)) found.push(moved(problem, from));
    around = SMALLEST; // what stands around nodes and edges is looked at once
    yield;
  }
  return found.slice(0, MAX_PROBLEMS);
}

/** The problem of a slice, at its place in the whole. */
function moved(problem: Problem, from: number): Problem {
  const path = problem.path.replace(
    /^\/(nodes|edges)\/(\d+)/,
    (_, list: string, index: string) => `/${list}/${Number(index) + from}`,
  );
  return { ...problem, path };
}

const ANY_NODE = { id: 'x', typeId: 'x', name: 'x', position: { x: 0, y: 0 }, config: {}, inputs: {} };

const SMALLEST = {
  id: 'x',
  name: 'x',
  version: '1',
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
};

export function compileVariables(
  definition: WorkflowDefinition,
  problems: Problems,
): Map<string, VariablePlan> {
  const variables = new Map<string, VariablePlan>();
  for (const [index, variable] of definition.variables.entries()) {
    const { name, type, defaultValue } = variable;
    if (variables.has(name)) {
      problems.error(
        pointer('variables', index, 'name'),
        'duplicate_variable',
        `Variable "${name}" is declared twice; remove one.`,
      );
      continue;
    }
    if (defaultValue !== undefined && !hasType(defaultValue, type)) {
      const path = pointer('variables', index, 'defaultValue');
      problems.error(
        path,
        'variable_type',
        `The default of variable "${name}" is not of its type "${type}".`,
      );
    }
    variables.set(name, {
      name,
      type,
      required: variable.required ?? false,
      ...(variable.sensitive !== undefined && { sensitive: variable.sensitive }),
      ...(defaultValue !== undefined && { defaultValue }),
    });
  }
  return variables;
}

function hasType(value: Json, type: VariablePlan['type']): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

/** By type: whether a trigger with such a config fires. */
export const SERVED_TRIGGERS: Readonly<Partial<Record<string, (config: JsonObject) => boolean>>> = {
  manual: () => true,
  'channel-write': () => true,
  schedule: (config) => config['cron'] !== undefined || config['everyMs'] !== undefined,
  webhook: (config) => config['scheme'] !== undefined,
};

const UNCONFIGURED: Readonly<Partial<Record<string, string>>> = {
  schedule: 'This schedule never fires: its config has neither "cron" nor "everyMs"',
  webhook: 'Nothing can be delivered to this trigger: its config has no "scheme"',
};

export function checkTriggers(definition: WorkflowDefinition, problems: Problems): void {
  for (const [index, trigger] of definition.triggers.entries()) {
    if (trigger.enabled === false || SERVED_TRIGGERS[trigger.type]?.(trigger.config ?? {}) === true) continue;
    const why = UNCONFIGURED[trigger.type] ?? `Triggers of type "${trigger.type}" do not fire on this host`;
    problems.warn(
      pointer('triggers', index),
      'trigger_not_served',
      `${why}; start runs by request, or set "enabled": false.`,
    );
  }
}

/** Checks a run's `configurable`; keys of this host's own (`weft.…`) are not the workflow's to evaluate. */
export function compileConfigurable(
  definition: WorkflowDefinition,
  schemas: SchemaCompiler,
  workLimits: WorkLimits,
  problems: Problems,
): (configurable: JsonObject) => void {
  const schema = definition.configurableSchema;
  if (schema === undefined) return () => undefined;
  try {
    const fits = schemas.schema(schema);
    return (configurable) => {
      const own = Object.entries(configurable).filter(([key]) => !key.startsWith('weft.'));
      const budget = new WorkBudget(workLimits);
      assertValid((value) => fits(value as Json, budget), Object.fromEntries(own), 'configurable');
    };
  } catch (error) {
    const field = error instanceof HostError ? error.details?.['field'] : undefined;
    const path = `/configurableSchema${typeof field === 'string' ? field : ''}`;
    problems.refused(path, 'configurable_schema', error);
    return () => undefined;
  }
}

/** Requirements on other things that are installed; the nodes run without them. */
const ELSEWHERE = new Set(['requiresInstalledPack', 'requiresWorkspaceAgent']);
/** What `metadata.requiresCapability` may ask for. */
const PROVIDED = new Set(['capabilities.agents.dispatchMapping', 'capabilities.subWorkflow.inputMapping']);

/** Members of a node that say something this host does not hear. */
function unusedMembers(node: WorkflowNode, type: NodeType | undefined): string[][] {
  const hearsCredentials = type?.takesCredentialsRef === true;
  return [
    ...(node.envelopeContract === undefined ? [] : [['envelopeContract']]),
    ...(node.credentialsRef === undefined || hearsCredentials ? [] : [['credentialsRef']]),
    ...(node.agent?.channel === undefined ? [] : [['agent', 'channel']]),
  ];
}

/** Features that a definition may use and this host does not have. They do not stop registration. */
export function* findUnsupported(
  definition: WorkflowDefinition,
  nodeTypes: ReadonlyMap<string, NodeType>,
  problems: Problems,
): CooperativeTask<string[]> {
  const found = new Map<string, string>();
  const note = (feature: string, path: string): void => void (found.has(feature) || found.set(feature, path));
  if (definition.defaults?.promptRefs !== undefined) note('promptRefs', '/defaults/promptRefs');
  for (const [key, value] of Object.entries(definition.metadata)) {
    const isMet = key === 'requiresCapability' && PROVIDED.has(String(value));
    if (key.startsWith('requires') && !isMet && !ELSEWHERE.has(key))
      note(`metadata.${key}`, pointer('metadata', key));
  }
  for (const [index, node] of definition.nodes.entries()) {
    for (const path of unusedMembers(node, nodeTypes.get(node.typeId))) {
      note(path.join('.'), pointer('nodes', index, ...path));
    }
    yield;
  }
  for (const [feature, path] of found) {
    problems.warn(
      path,
      'feature_unsupported',
      `This host does not support ${feature}; it is kept but has no effect.`,
    );
  }
  return [...found.keys()].sort();
}
