import type { Json, JsonObject } from '@weft/protocol';
import { Type } from 'typebox';
import { expect } from 'vitest';
import type { NodeType } from '../../../model/node-type.ts';
import { type CompileResult, compileWorkflow } from '../compile.ts';
import { createExpressionCompiler } from '../../expressions/expressions.ts';
import type { Plan } from '../plan.ts';

/** Short ways to write and compile definitions in the tests of the compiler. */

const closed = { additionalProperties: false } as const;

function pure(typeId: string, config = Type.Object({}, closed), rest: Partial<NodeType> = {}): NodeType {
  const base = {
    kind: 'pure',
    typeId,
    title: typeId,
    summary: typeId,
    config,
    run: () => ({ outputs: {} }),
  } as const;
  return { ...base, ...rest } as NodeType;
}

const NODE_TYPES: ReadonlyMap<string, NodeType> = new Map(
  [
    pure('core.noop'),
    pure('core.greet', Type.Object({ name: Type.Optional(Type.String()) }, closed), {
      prepare: (config, tools) => {
        if (config['name'] === '') tools.refuse('/name', 'The name is empty.');
        return { prepared: config['name'] ?? null };
      },
    }),
    pure('conformance.requiresMissing', Type.Object({}, closed), {
      requires: ['conformance.never-provided'],
    }),
    {
      kind: 'effect',
      typeId: 'core.call',
      title: 'Call',
      summary: 'Call',
      config: Type.Object({}, closed),
      defaultTimeoutMs: 60_000,
      perform: () => Promise.resolve({ outputs: {} }),
    } satisfies NodeType,
    {
      kind: 'loop',
      typeId: 'core.loop',
      title: 'Loop',
      summary: 'Loop',
      config: Type.Object(
        {
          body: Type.Array(Type.String(), { minItems: 1, uniqueItems: true }),
          items: Type.Optional(Type.Unknown()),
          while: Type.Optional(Type.String()),
          maxIterations: Type.Integer({ minimum: 1 }),
        },
        closed,
      ),
    } satisfies NodeType,
  ].map((type) => [type.typeId, type]),
);

export type Part = Record<string, Json>;

export function node(id: string, rest: Part = {}): JsonObject {
  return { id, typeId: 'core.noop', name: id, position: { x: 0, y: 0 }, config: {}, inputs: {}, ...rest };
}

export function loop(id: string, body: string[], rest: Part = { items: '[1, 2]' }): JsonObject {
  return node(id, { typeId: 'core.loop', config: { body, maxIterations: 10, ...rest } });
}

export function edge(id: string, from: string, to: string, rest: Part = {}): JsonObject {
  return { id, sourceNodeId: from, targetNodeId: to, ...rest };
}

export function workflow(nodes: Json[], edges: Json[] = [], rest: Part = {}): JsonObject {
  const empty = { triggers: [], variables: [], metadata: {}, settings: {} };
  return { id: 'w', name: 'W', version: '1', nodes, edges, ...empty, ...rest };
}

export function compile(definition: unknown, options: { maxNodes?: number } = {}): CompileResult {
  return compileWorkflow(definition, {
    digest: 'abc',
    nodeTypes: NODE_TYPES,
    expressions: createExpressionCompiler(),
    maxNodes: options.maxNodes ?? 20_000,
    maskingDefault: 'mask',
    runtimeCapabilities: new Set(),
  });
}

export function planOf(definition: JsonObject): Plan {
  const { plan, errors } = compile(definition);
  if (plan === undefined) throw new Error(JSON.stringify(errors));
  return plan;
}

/** `code path` of every error. */
export function errorsOf(definition: unknown): string[] {
  const { errors, plan } = compile(definition);
  expect(plan).toBeUndefined();
  return errors.map(({ code, path }) => `${code} ${path}`);
}
