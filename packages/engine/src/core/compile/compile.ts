import { DEFAULT_WORK_LIMITS, type WorkflowDefinition, type WorkLimits } from '@weft/protocol';
import type { WorkflowProblem } from '../../host/host.ts';
import type { NodeType } from '../../model/node-type.ts';
import { compileChannels } from './channels.ts';
import {
  checkShape,
  checkTriggers,
  compileConfigurable,
  compileVariables,
  findUnsupported,
} from './document.ts';
import { openCycles } from './cycles.ts';
import { compareIds, connect, layOutScopes } from './graph.ts';
import { compileLoops } from './loops.ts';
import { compileNodes, type NodeDraft } from './nodes.ts';
import { topologicalOrder } from './order.ts';
import { checkConnections, compilePorts } from './ports.ts';
import { compileTriggers } from './triggers.ts';
import { createProblems, type Problems } from './problems.ts';
import { createTexts } from './texts.ts';
import type { ExpressionCompiler, KeyedHash, MaskingMode, Plan } from './plan.ts';
import { finish, type CooperativeTask } from '../json/cooperative-task.ts';

export interface CompileOptions {
  /** Identity of the definition, computed by the caller. */
  readonly digest: string;
  readonly nodeTypes: ReadonlyMap<string, NodeType>;
  readonly expressions: Pick<ExpressionCompiler, 'compile'>;
  readonly maxNodes: number;
  readonly maskingDefault: MaskingMode;
  /** Without it the mode `hash` masks like `mask`: a digest without a key would be guessed. */
  readonly keyedHash?: KeyedHash;
  readonly runtimeCapabilities: ReadonlySet<string>;
  /** What one decision of a run may spend on expressions, patterns and schemas. */
  readonly workLimits?: WorkLimits;
}

export interface CompileResult {
  /** Present when there are no errors. */
  readonly plan?: Plan;
  readonly errors: WorkflowProblem[];
  readonly warnings: WorkflowProblem[];
  /** Features the definition uses and this host does not have, such as "channels". */
  readonly unsupported: string[];
}

/**
 * Makes a definition ready to run, or says everything that is wrong with it. Takes time in proportion to the definition's
 * size, and gives the same plan for the same definition on every machine.
 */
export function compileWorkflow(definition: unknown, options: CompileOptions): CompileResult {
  return finish(compileCooperatively(definition, options));
}

/** The same, for whoever has others to serve meanwhile. */
export function* compileCooperatively(
  definition: unknown,
  options: CompileOptions,
): CooperativeTask<CompileResult> {
  const problems = createProblems();
  const document = yield* checkShape(definition, problems);
  if (document === undefined) return { ...problems.result(), unsupported: [] };
  const unsupported = yield* findUnsupported(document, options.nodeTypes, problems);
  if (document.nodes.length > options.maxNodes) {
    problems.error(
      '/nodes',
      'too_many_nodes',
      `The definition has ${document.nodes.length} nodes; this host takes at most ${options.maxNodes}.`,
    );
    return { ...problems.result(), unsupported };
  }
  const plan = yield* buildPlan(document, options, problems);
  return { ...problems.result(), unsupported, ...(problems.hasErrors ? {} : { plan }) };
}

/** A node or an edge, as the definition has it and as the plan does. */
const PART_BYTES = 2_000;

function* buildPlan(
  definition: WorkflowDefinition,
  options: CompileOptions,
  problems: Problems,
): CooperativeTask<Plan> {
  const texts = createTexts(options.expressions);
  const { workLimits = DEFAULT_WORK_LIMITS } = options;
  checkTriggers(definition, problems);
  const variables = compileVariables(definition, problems);
  const checkConfigurable = compileConfigurable(definition, texts, workLimits, problems);
  const declaredIds = new Set(definition.nodes.map((node) => node.id));
  const drafts = yield* compileNodes(definition, { variables, texts, options, problems });
  const loops = yield* compileLoops(drafts, declaredIds, texts, problems);
  yield* connect(definition, { drafts, declaredIds, loops, expressions: texts, problems });
  yield* openCycles(definition, drafts, problems);
  const sorted = [...drafts.values()].sort(compareIds);
  yield;
  const root = yield* layOutScopes(sorted, loops, problems);
  yield* compilePorts({ drafts, declaredIds, variables, expressions: texts, problems });
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
    checkConfigurable,
  };
}

function declaredPorts({ sensitivePorts }: NodeDraft): { sensitive: boolean }[] {
  return [...sensitivePorts.values()].map((sensitive) => ({ sensitive }));
}
