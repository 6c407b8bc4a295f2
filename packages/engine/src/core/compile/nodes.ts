import {
  DEFAULT_WORK_LIMITS,
  type JsonObject,
  type Problem,
  RESERVED_TYPE_PREFIXES,
  WorkBudget,
  type WorkflowDefinition,
  type WorkflowNode,
  type WorkLimits,
} from '@weft/protocol';
import { agentName, type InstalledAgent, pinnedAgent } from '../../model/installed-agent.ts';
import type { NodeType, PrepareTools } from '../../model/node-type.ts';
import { checkConfig } from './check-config.ts';
import type { BrokenParts } from './broken-parts.ts';
import type { CompileOptions, UserTypes } from './compile.ts';
import type { Texts } from './texts.ts';
import { nearestName, pointer, type Problems, schemaMessage } from './problems.ts';
import type {
  EdgePlan,
  ExpressionCompiler,
  LoopPlan,
  NodePlan,
  NodeSettings,
  NodeWords,
  PortPlan,
  ScopePlan,
  VariablePlan,
} from './plan.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/** A NodePlan under construction: plans point at each other, so edges, ports and scopes are filled in later. */
export interface NodeDraft
  extends Omit<NodePlan, 'incoming' | 'outgoing' | 'ports' | 'scope' | 'rule' | 'loop' | 'cycle'> {
  /** Position in the definition's list of nodes. */
  readonly index: number;
  readonly incoming: EdgePlan[];
  readonly outgoing: EdgePlan[];
  ports: readonly PortPlan[];
  rule: NodePlan['rule'];
  scope: ScopePlan;
  cycle?: readonly string[];
  loop?: LoopPlan;
}

const NO_SCOPE: ScopePlan = { nodes: [], sources: [], terminals: [] };

interface NodeContext {
  readonly broken: BrokenParts;
  readonly variables: ReadonlyMap<string, VariablePlan>;
  readonly texts: Texts;
  readonly expressionsOf: (nodeId: string) => ExpressionCompiler;
  readonly options: CompileOptions;
  readonly problems: Problems;
}

/** All nodes that can be made sense of, by id; what is wrong with the others is noted. */
export function* compileNodes(
  definition: WorkflowDefinition,
  { broken, variables, texts, expressionsOf, options, problems }: NodeContext,
): CooperativeTask<Map<string, NodeDraft>> {
  const drafts = new Map<string, NodeDraft>();
  const seen = new Set<string>();
  const typeOf = typeFinder(options, problems);
  const configBudget = new WorkBudget(timesAsMuch(options.workLimits ?? DEFAULT_WORK_LIMITS, CONFIGS));
  const typesInUse = new Set(definition.nodes.map((node) => node.typeId));
  const tools: Omit<Tools, 'expressions'> = {
    schemas: texts,
    variables,
    channels: new Map(Object.entries(definition.channels ?? {})),
    workflowId: definition.id,
    nodeType: (typeId, version) => findType(options, typeId, version),
  };
  for (const [index, node] of definition.nodes.entries()) {
    yield;
    if (seen.has(node.id)) {
      problems.error(
        pointer('nodes', index, 'id'),
        'duplicate_node',
        `Node id "${node.id}" is used twice; give each node its own.`,
      );
      continue;
    }
    seen.add(node.id);
    if (broken.nodes.has(index)) continue;
    const named = typeOf(node, index);
    if (named === undefined) continue;
    const type = named.variant?.(node.config, { workflowId: definition.id }) ?? named;
    checkCompany(type, index, typesInUse, problems);
    warnOfMissingCapability(type, index, options, problems);
    warnOfMissingModel(type, index, options, problems);
    drafts.set(node.id, {
      index,
      id: node.id,
      words: wordsOf(node.id, type.typeId),
      type,
      node,
      config: node.config,
      prepared: prepareNode(
        { node, index, type, configBudget },
        {
          ...tools,
          agent: agentOf(node, index, type, options, problems),
          expressions: expressionsOf(node.id),
        },
        problems,
      ),
      settings: nodeSettings(node, definition, type),
      disabled: node.disabled ?? false,
      sensitivePorts: sensitivePorts(node),
      incoming: [],
      outgoing: [],
      ports: [],
      rule: 'all_success',
      scope: NO_SCOPE,
    });
  }
  return drafts;
}

/** The agent of a pack that is pinned to the node. */
function agentOf(
  { agent }: WorkflowNode,
  index: number,
  { takesAgent }: NodeType,
  { agents }: CompileOptions,
  problems: Problems,
): InstalledAgent | undefined {
  const pinned = takesAgent === undefined ? undefined : pinnedAgent(agent);
  const found = pinned && agents?.get(agentName(pinned));
  if (pinned !== undefined && found === undefined)
    problems.error(
      pointer('nodes', index, 'agent'),
      'unknown_agent',
      `No agent "${pinned.agentId}" of version "${pinned.version}" is installed; see weft agents ls.`,
    );
  return found;
}

function wordsOf(nodeId: string, typeId: string): NodeWords {
  return {
    id: JSON.stringify({ nodeId }).slice(0, -1),
    started: JSON.stringify({ nodeId, typeId, attempt: 0 }),
  };
}

/** Finding what was meant compares a name with that of every type. */
const MAX_SUGGESTIONS = 50;

function typeFinder({ nodeTypes: types, userTypes = NO_TYPES }: CompileOptions, problems: Problems) {
  const suggestions = new Map<string, string>();
  return (node: WorkflowNode, index: number): NodeType | undefined => {
    const own = types.get(node.typeId);
    const version = node.settings?.typeVersion;
    if (own !== undefined) {
      if (version !== undefined) refuseVersion(node.typeId, index, problems);
      return own;
    }
    const versions = userTypes.get(node.typeId);
    if (versions !== undefined) {
      const type = versions.get(version ?? '');
      if (type === undefined) unknownVersion(node, index, [...versions.keys()], problems);
      return type;
    }
    let suggestion = suggestions.get(node.typeId);
    if (suggestion === undefined) {
      const nearest =
        suggestions.size < MAX_SUGGESTIONS
          ? nearestName(node.typeId, [...types.keys(), ...userTypes.keys()])
          : undefined;
      const otherwise = isReserved(node.typeId)
        ? 'see the list of node types'
        : 'no worker has served it yet.';
      suggestion = nearest === undefined ? otherwise : `did you mean "${nearest}"?`;
      suggestions.set(node.typeId, suggestion);
    }
    problems.error(
      pointer('nodes', index, 'typeId'),
      'unknown_node_type',
      `This host has no node type "${node.typeId}"; ${suggestion}`,
      { typeId: node.typeId },
    );
    return undefined;
  };
}

const NO_TYPES: UserTypes = new Map();

/** A type that a config names; in words, why there is none. */
function findType(
  { nodeTypes, userTypes = NO_TYPES }: CompileOptions,
  typeId: string,
  version: string | undefined,
): NodeType | string {
  const own = nodeTypes.get(typeId);
  if (own !== undefined)
    return version === undefined ? own : `Node type "${typeId}" belongs to the host and has no versions.`;
  const versions = userTypes.get(typeId);
  const known = versions?.get(version ?? '');
  if (known !== undefined) return known;
  return versions === undefined
    ? `This host has no node type "${typeId}": no worker has served it yet.`
    : `Node type "${typeId}" is not known in version "${version ?? ''}"; it is known in ${[...versions.keys()].slice(-SHOWN_VERSIONS).join(', ')}.`;
}

function isReserved(typeId: string): boolean {
  return RESERVED_TYPE_PREFIXES.some((prefix) => typeId.startsWith(prefix));
}

function refuseVersion(typeId: string, index: number, problems: Problems): void {
  problems.error(
    pointer('nodes', index, 'settings', 'typeVersion'),
    'type_version',
    `Node type "${typeId}" belongs to the host and has no versions; remove typeVersion.`,
  );
}

const SHOWN_VERSIONS = 10;

function unknownVersion(
  { typeId, settings }: WorkflowNode,
  index: number,
  versions: readonly string[],
  problems: Problems,
): void {
  const known = versions.slice(-SHOWN_VERSIONS).join(', ');
  problems.error(
    pointer('nodes', index, 'settings', 'typeVersion'),
    'unknown_type_version',
    `Node type "${typeId}" is not known in version "${settings?.typeVersion ?? ''}"; it is known in ${known}.`,
    { typeId },
  );
}

/** Only a warning: such a node fails when it is reached, which is the behaviour some workflows are written to show. */
function warnOfMissingCapability(
  type: NodeType,
  index: number,
  options: CompileOptions,
  problems: Problems,
): void {
  const missing = type.requires?.filter((capability) => !options.runtimeCapabilities.has(capability)) ?? [];
  if (missing.length === 0) return;
  problems.warn(
    pointer('nodes', index, 'typeId'),
    'capability_missing',
    `Node type "${type.typeId}" needs ${missing.join(', ')}, which this host does not provide; the node will fail when it is reached.`,
  );
}

function warnOfMissingModel(
  { asksModel }: NodeType,
  index: number,
  { isOffered, hasModels }: CompileOptions,
  problems: Problems,
): void {
  if (asksModel !== true || hasModels !== false || isOffered !== true) return;
  problems.warn(
    pointer('nodes', index, 'typeId'),
    'provider_missing',
    'This host has no language model; the node will fail when it is reached.',
  );
}

/** All configs of a definition that are held against schemas of users, against what one decision may cost. */
const CONFIGS = 10;

function timesAsMuch({ steps, bytes }: WorkLimits, times: number): WorkLimits {
  return { steps: times * steps, bytes: times * bytes };
}

function checkCompany(
  { typeId, needs }: NodeType,
  index: number,
  typesInUse: ReadonlySet<string>,
  problems: Problems,
): void {
  if (needs === undefined || typesInUse.has(needs)) return;
  problems.error(
    pointer('nodes', index, 'typeId'),
    'node_type_missing',
    `A node of type "${typeId}" acts on what a "${needs}" decides; this workflow has none.`,
  );
}

type Tools = Omit<PrepareTools, 'refuse'>;

interface Unprepared {
  readonly node: WorkflowNode;
  readonly index: number;
  readonly type: NodeType;
  readonly configBudget: WorkBudget;
}

function prepareNode(unprepared: Unprepared, tools: Tools, problems: Problems): unknown {
  const { node, index, type } = unprepared;
  const found = configProblems(unprepared, problems);
  if (found.length === 0 && type.prepare === undefined) return undefined;
  const place = pointer('nodes', index, 'config');
  for (const problem of found)
    problems.error(`${place}${problem.path}`, 'node_config', schemaMessage(problem));
  if (found.length > 0 || type.prepare === undefined) return undefined;
  return prepare(type.prepare, node.config, place, tools, problems);
}

function configProblems(
  { node, index, type, configBudget }: Unprepared,
  problems: Problems,
): readonly Problem[] {
  try {
    return checkConfig(type, node.config, configBudget);
  } catch (error) {
    problems.refused(pointer('nodes', index, 'config'), 'node_config', error);
    return [];
  }
}

class Refusal extends Error {}

function prepare(
  work: NonNullable<NodeType['prepare']>,
  config: JsonObject,
  place: string,
  tools: Tools,
  problems: Problems,
): unknown {
  try {
    return work(config, {
      ...tools,
      refuse: (path, message, cost) => {
        problems.error(`${place}${path}`, cost?.code ?? 'node_config', message, cost?.details);
        throw new Refusal(message);
      },
    });
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function nodeSettings(node: WorkflowNode, definition: WorkflowDefinition, type: NodeType): NodeSettings {
  const byDefault = type.kind === 'effect' || type.kind === 'steps' ? type.defaultTimeoutMs : undefined;
  const { timeoutMs = byDefault ?? 0, onUnknownOutcome = 'repeat', retry = {} } = node.settings ?? {};
  return {
    timeoutMs,
    onUnknownOutcome,
    retry: {
      maxAttempts: retry.maxAttempts ?? 1 + (definition.settings.maxRetries ?? 0),
      initialMs: retry.initialMs ?? 1000,
      factor: retry.factor ?? 2,
      maxMs: retry.maxMs ?? 60_000,
      jitter: retry.jitter ?? 0,
      never: retry.never ?? [],
    },
  };
}

const NO_PORTS: ReadonlyMap<string, boolean> = new Map();

function sensitivePorts({ outputSensitivity }: WorkflowNode): ReadonlyMap<string, boolean> {
  return outputSensitivity === undefined ? NO_PORTS : new Map(Object.entries(outputSensitivity));
}
