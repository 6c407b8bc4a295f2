import type { JsonObject } from '@weft/protocol';

/** Short ways to write workflow definitions in tests. */

export interface NodeSpec {
  readonly id: string;
  readonly typeId?: string;
  readonly config?: JsonObject;
  readonly inputs?: JsonObject;
  readonly settings?: JsonObject;
  readonly disabled?: boolean;
  readonly outputSensitivity?: JsonObject;
}

export interface EdgeSpec {
  readonly from: string;
  readonly to: string;
  readonly rule?: string;
  readonly condition?: JsonObject;
  readonly sourceOutput?: string;
  readonly targetInput?: string;
}

export interface WorkflowSpec {
  readonly nodes: readonly NodeSpec[];
  readonly edges?: readonly EdgeSpec[];
  readonly variables?: readonly JsonObject[];
  readonly settings?: JsonObject;
  readonly metadata?: JsonObject;
  readonly configurableSchema?: JsonObject;
  readonly channels?: JsonObject;
  /** In addition to the manual one. */
  readonly triggers?: readonly JsonObject[];
}

export function node(
  id: string,
  typeId = 'core.noop',
  config: JsonObject = {},
  rest: Partial<NodeSpec> = {},
): NodeSpec {
  return { id, typeId, config, ...rest };
}

export function edge(from: string, to: string, rest: Partial<EdgeSpec> = {}): EdgeSpec {
  return { from, to, ...rest };
}

/** a → b → c as edges. */
export function chain(...ids: string[]): EdgeSpec[] {
  return ids.slice(1).map((to, index) => edge(ids[index] as string, to));
}

export function variable(name: string, rest: JsonObject = {}): JsonObject {
  return { name, type: 'string', ...rest };
}

export function definition(spec: WorkflowSpec): JsonObject {
  return {
    id: 'test-workflow',
    name: 'Test workflow',
    version: '1.0',
    nodes: spec.nodes.map((entry) => ({
      id: entry.id,
      typeId: entry.typeId ?? 'core.noop',
      name: entry.id,
      position: { x: 0, y: 0 },
      config: entry.config ?? {},
      inputs: entry.inputs ?? {},
      ...(entry.settings !== undefined && { settings: entry.settings }),
      ...(entry.disabled === true && { disabled: true }),
      ...(entry.outputSensitivity !== undefined && { outputSensitivity: entry.outputSensitivity }),
    })),
    edges: (spec.edges ?? []).map((entry, index) => ({
      id: `e${String(index).padStart(3, '0')}`,
      sourceNodeId: entry.from,
      targetNodeId: entry.to,
      ...(entry.rule !== undefined && { triggerRule: entry.rule }),
      ...(entry.condition !== undefined && { condition: entry.condition }),
      ...(entry.sourceOutput !== undefined && { sourceOutput: entry.sourceOutput }),
      ...(entry.targetInput !== undefined && { targetInput: entry.targetInput }),
    })),
    triggers: [{ id: 'manual', type: 'manual' }, ...(spec.triggers ?? [])],
    variables: [...(spec.variables ?? [])],
    metadata: spec.metadata ?? {},
    settings: spec.settings ?? {},
    ...(spec.channels !== undefined && { channels: spec.channels }),
    ...(spec.configurableSchema !== undefined && { configurableSchema: spec.configurableSchema }),
  };
}
