import { DEFAULT_WORK_LIMITS, type WorkLimits } from '@weft/protocol';
import type { WorkflowProblem } from '../../host/host.ts';
import type { InstalledAgent } from '../../model/installed-agent.ts';
import type { NodeType } from '../../model/node-type.ts';
import { compileChannels } from './channels.ts';
import {
  checkShape,
  type Shape,
  checkTriggers,
  compileConfigurable,
  compileVariables,
  findUnsupported,
} from './document.ts';
import { openCycles } from './cycles.ts';
import { compareIds, connect, layOutScopes } from './graph.ts';
import { checkInputPorts } from './declared-ports.ts';
import { inputPorts } from './input-ports.ts';
import { knownNames, withKnownNames } from './known-names.ts';
import { compileLoops } from './loops.ts';
import { compileNodes, type NodeDraft } from './nodes.ts';
import { topologicalOrder } from './order.ts';
import { checkSourcePorts } from './output-ports.ts';
import { refusePlaceholders } from './placeholders.ts';
import { checkConnections, compilePorts } from './ports.ts';
import { compileTriggers } from './triggers.ts';
import { createProblems, pointer, type Problems } from './problems.ts';
import { createTexts } from './texts.ts';
import type { ExpressionCompiler, KeyedHash, MaskingMode, Plan } from './plan.ts';
import { finish, type CooperativeTask } from '../json/cooperative-task.ts';

export interface CompileOptions {
  /** Identity of the definition, computed by the caller. */
  readonly digest: string;
  readonly nodeTypes: ReadonlyMap<string, NodeType>;
  /** Types that workers serve, by type id and version; those of the tenant whose definition it is. */
  readonly userTypes?: UserTypes;
  /** Agents of packs, by name; those of the same tenant. */
  readonly agents?: ReadonlyMap<string, InstalledAgent>;
  readonly expressions: Pick<ExpressionCompiler, 'compile'>;
  readonly maxNodes: number;
  readonly maskingDefault: MaskingMode;
  /** Without it the mode `hash` masks like `mask`: a digest without a key would be guessed. */
  readonly keyedHash?: KeyedHash;
  readonly runtimeCapabilities: ReadonlySet<string>;
  /** Offered for registration: also mistakes are errors that this host once let pass. What is registered keeps running. */
  readonly isOffered?: boolean;
  /** False where no node can ask a language model. */
  readonly hasModels?: boolean;
  /** What one decision of a run may spend on expressions, patterns and schemas. */
  readonly workLimits?: WorkLimits;
}

export type UserTypes = ReadonlyMap<string, ReadonlyMap<string, NodeType>>;

export interface CompileResult {
  /** Present when there are no errors. */
  readonly plan?: Plan;
  readonly errors: WorkflowProblem[];
  readonly warnings: WorkflowProblem[];
  /** Features the definition uses and this host does not have, such as "channels". */
  readonly unsupported: string[];
  /** Workflows that nodes start, and where they are named. */
  readonly children: readonly ChildReference[];
}

export interface ChildReference {
  readonly path: string;
  readonly workflowId: string;
}

/**
 * Makes a definition ready to run, or says everything that is wrong with it. Takes time in proportion to the definition's
 * size, and gives the same plan for the same definition on every machine.
 */
export function compileWorkflow(definition: unknown, options: CompileOptions): CompileResult {
  return finish(compileCooperatively(definition, options));
}

/** The same in short steps, so that the event loop stays free. */
export function* compileCooperatively(
  definition: unknown,
  options: CompileOptions,
): CooperativeTask<CompileResult> {
  const problems = createProblems();
  const shape = yield* checkShape(definition, problems);
  if (shape === undefined) return { ...problems.result(), unsupported: [], children: [] };
  const { document } = shape;
  const unsupported = yield* findUnsupported(document, options.nodeTypes, problems);
  if (document.nodes.length > options.maxNodes) {
    problems.error(
      '/nodes',
      'too_many_nodes',
      `The definition has ${document.nodes.length} nodes; this host takes at most ${options.maxNodes}.`,
    );
    return { ...problems.result(), unsupported, children: [] };
  }
  const plan = yield* buildPlan(shape, options, problems);
  const children = childrenOf(shape, options.nodeTypes);
  return { ...problems.result(), unsupported, children, ...(problems.hasErrors ? {} : { plan }) };
}

function childrenOf(
  { document, broken }: Shape,
  nodeTypes: CompileOptions['nodeTypes'],
): readonly ChildReference[] {
  return document.nodes.flatMap(({ typeId, config }, index) => {
    if (broken.nodes.has(index)) return [];
    const named = Object.entries(nodeTypes.get(typeId)?.childWorkflows?.(config) ?? {});
    return named.map(([path, workflowId]) => ({
      path: `${pointer('nodes', index, 'config')}${path}`,
      workflowId,
    }));
  });
}

/** A node or an edge, as the definition has it and as the plan does. */
const PART_BYTES = 2_000;

function* buildPlan(
  { document: definition, broken }: Shape,
  options: CompileOptions,
  problems: Problems,
): CooperativeTask<Plan> {
  const texts = createTexts(options.expressions);
  const { workLimits = DEFAULT_WORK_LIMITS, isOffered = false } = options;
  checkTriggers(definition, problems);
  const variables = compileVariables(definition, problems);
  for (const name of broken.variables) variables.delete(name);
  const checkConfigurable = compileConfigurable(definition, texts, workLimits, problems);
  const declaredIds = new Set(definition.nodes.map((node) => node.id));
  const inputsOf = inputPorts(definition, options.nodeTypes);
  const known = knownNames(definition, options.nodeTypes);
  const expressionsIn = (inputs: ReadonlySet<string>): ExpressionCompiler =>
    isOffered ? withKnownNames(texts, { known, inputs }) : texts;
  const expressionsOf = (nodeId: string): ExpressionCompiler => expressionsIn(inputsOf(nodeId));
  const expressions = expressionsIn(new Set(definition.variables.map(({ name }) => name)));
  const drafts = yield* compileNodes(definition, {
    broken,
    variables,
    texts,
    expressionsOf,
    options,
    problems,
  });
  const loops = yield* compileLoops(drafts, declaredIds, expressionsOf, problems);
  yield* connect(definition, { broken, drafts, declaredIds, loops, expressions, problems });
  if (isOffered) {
    yield* checkSourcePorts(definition, drafts, inputsOf, problems);
    yield* checkInputPorts({ definition, drafts, loops, problems });
    yield* refusePlaceholders(definition, problems);
  }
  yield* openCycles(definition, drafts, problems);
  const sorted = [...drafts.values()].sort(compareIds);
  yield;
  const root = yield* layOutScopes(sorted, loops, problems);
  yield* compilePorts({ drafts, declaredIds, variables, expressions, problems });
  const channels = yield* compileChannels(definition, texts, problems);
  const triggers = yield* compileTriggers(definition, { drafts, declaredIds, channels, problems });
  const order = yield* topologicalOrder(definition, drafts, problems);
  if (order !== undefined) yield* checkConnections(order, drafts, loops, problems);
  const { maskingDefault, keyedHash } = options;
  const mode = definition.metadata.complianceConfig?.maskingMode ?? maskingDefault;
  return {
    definition,
    digest: options.digest,
    bytes: texts.bytes + PART_BYTES * (definition.nodes.length + definition.edges.length),
    root,
    nodes: new Map(sorted.map((draft) => [draft.id, draft])),
    variables,
    channels,
    triggers,
    maskingMode: mode === 'hash' && keyedHash === undefined ? 'mask' : mode,
    ...(keyedHash !== undefined && { keyedHash }),
    hasSensitive: [...variables.values(), ...channels.values(), ...sorted.flatMap(declaredPorts)].some(
      ({ sensitive }) => sensitive === true,
    ),
    workLimits,
    usesUserTypes: sorted.some(usesUserTypes) || (options.agents?.size ?? 0) > 0,
    checkConfigurable,
  };
}

function usesUserTypes({ type, prepared }: NodeDraft): boolean {
  if (type.kind === 'steps' && type.called !== undefined) return true;
  const performing =
    type.kind === 'steps' && prepared !== undefined
      ? [...(type.performers?.(prepared).values() ?? [])]
      : [type];
  return performing.some((each) => each.kind === 'effect' && each.servedBy !== undefined);
}

function declaredPorts({ sensitivePorts }: NodeDraft): { sensitive: boolean }[] {
  return [...sensitivePorts.values()].map((sensitive) => ({ sensitive }));
}
