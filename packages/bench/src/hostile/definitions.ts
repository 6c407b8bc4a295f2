import type { JsonObject } from '@weft/protocol';

/** Short ways to write what an attacker registers. */

export function workflow(nodes: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return {
    id: 'hostile',
    name: 'hostile',
    version: '1',
    nodes: nodes.map((node) => ({ name: 'n', position: { x: 0, y: 0 }, config: {}, inputs: {}, ...node })),
    edges: [],
    triggers: [{ id: 'm', type: 'manual' }],
    variables: [],
    metadata: {},
    settings: {},
    ...more,
  };
}

/** A run that evaluates the expression once. */
export function evaluating(expression: string): JsonObject {
  return workflow(
    [{ id: 'c', typeId: 'core.identity', inputs: { output: { type: 'expression', expression } } }],
    { variables: [{ name: 'text', type: 'string' }] },
  );
}

/** A run that holds a text against a pattern. */
export function matching(pattern: string, against: string): JsonObject {
  const echo: JsonObject = {
    id: 'a',
    typeId: 'core.identity',
    inputs: { output: { type: 'variable', variableName: 'text' } },
  };
  return workflow([echo, { id: 'b', typeId: 'core.noop' }], {
    variables: [{ name: 'text', type: 'string', defaultValue: against }],
    edges: [
      {
        id: 'e',
        sourceNodeId: 'a',
        targetNodeId: 'b',
        condition: { type: 'regex', left: 'output', right: pattern },
      },
    ],
  });
}

/** A run whose options are held against the schema. */
export function configured(schema: JsonObject): JsonObject {
  return workflow([{ id: 'n', typeId: 'core.noop' }], { configurableSchema: schema });
}

/** A run that calls a place of the attacker's own. */
export function calling(url: string, more: JsonObject = {}): JsonObject {
  return workflow([{ id: 'call', typeId: 'core.http.request', config: { url, method: 'GET' } }], more);
}

export function repeated(piece: string, bytes: number): string {
  return piece.repeat(Math.ceil(bytes / piece.length)).slice(0, bytes);
}
