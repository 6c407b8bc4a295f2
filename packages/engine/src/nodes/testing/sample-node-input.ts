import { type Json, type JsonObject, WorkBudget } from '@weft/protocol';
import { createTexts } from '../../core/compile/texts.ts';
import { createExpressionCompiler } from '../../core/expressions/expressions.ts';
import { NodeFailure, type NodeInput, type NodeType, type PrepareTools } from '../../model/node-type.ts';

/** For tests: what the core would hand to a node of this type. */
export interface Sample {
  readonly config?: JsonObject;
  readonly inputs?: JsonObject;
  readonly variables?: Readonly<Record<string, Json>>;
  /** Variable name → declared type. */
  readonly declared?: Readonly<Record<string, string>>;
  /** What channels hold; all of them have the reducer `message`. */
  readonly channels?: Readonly<Record<string, Json>>;
  readonly visit?: number;
  readonly decision?: JsonObject;
}

const texts = createTexts(createExpressionCompiler());

/** Prepares the config as registration does, so a refusal throws `<path>: <message>`. */
export function sampleInput(
  type: NodeType,
  { config = {}, inputs = {}, variables = {}, declared = {}, channels = {}, visit = 0, decision }: Sample,
): NodeInput {
  const scopeWith = (outputs: JsonObject) => ({
    inputs,
    outputs,
    output: outputs['output'] ?? null,
    variables,
    vars: variables,
    nodes: {},
    visit,
  });
  return {
    nodeId: 'sample',
    config,
    prepared: type.prepare?.(config, sampleTools(declared, channels)),
    inputs,
    variables: new Map(Object.entries(variables)),
    channels: new Map(Object.entries(channels)),
    iteration: [],
    visit,
    configurable: {},
    ...(decision !== undefined && { decision }),
    scope: scopeWith(inputs),
    scopeWith,
    budget: new WorkBudget(),
    getVersion: (_changeId, _min, max) => max,
    log: () => undefined,
  };
}

export function sampleTools(
  declared: Readonly<Record<string, string>> = {},
  channels: Readonly<Record<string, Json>> = {},
): PrepareTools {
  return {
    expressions: texts,
    schemas: texts,
    channels: new Map(Object.keys(channels).map((name) => [name, { reducer: 'message' }])),
    workflowId: 'conformance-sample',
    variables: new Map(Object.entries(declared).map(([name, type]) => [name, { type }])),
    nodeType: (typeId) => `There is no node type "${typeId}".`,
    refuse(path, message) {
      throw new Error(`${path}: ${message}`);
    },
  };
}

/** The failure `run` ends with, for tests of what a node reports. */
export function failureOf(run: () => unknown): NodeFailure {
  try {
    run();
  } catch (error) {
    if (error instanceof NodeFailure) return error;
    throw error;
  }
  throw new Error('The node did not fail.');
}
