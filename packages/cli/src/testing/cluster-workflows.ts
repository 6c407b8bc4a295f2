import type { JsonObject } from '@weft/protocol';

const place = { position: { x: 0, y: 0 } };

/** What the cluster tests run. Every node whose name begins with `call` calls the world outside. */
export function clusterWorkflows(worldPort: number): JsonObject[] {
  return [
    workflow('paced', [delay('one', 250), delay('two', 250), delay('three', 250)], ['one-two', 'two-three']),
    workflow('call', [call('call', worldPort)]),
    workflow('parked', [delay('wait', 2_500)]),
    workflow('gate', [gate()]),
    // Next to the call the gate is open, so the run is held and waits for a person at once.
    workflow('held-gate', [begin(), call('call', worldPort), gate()], ['begin-call', 'begin-gate']),
    workflow(
      'held-parent',
      [begin(), call('call', worldPort), child('sub', 'gate')],
      ['begin-call', 'begin-sub'],
    ),
    workflow('quick', [begin()]),
  ];
}

export function workflow(
  id: string,
  nodes: JsonObject[],
  edges: readonly string[] = [],
  version = '1.0',
): JsonObject {
  return {
    id,
    name: id,
    version,
    nodes,
    edges: edges.map((edge) => {
      const [sourceNodeId = '', targetNodeId = ''] = edge.split('-');
      return { id: edge, sourceNodeId, targetNodeId };
    }),
    triggers: [{ id: 'manual', type: 'manual' }],
    variables: [{ name: 'tag', type: 'string' }],
    metadata: {},
    settings: {},
  };
}

export function plain(id: string, typeId: string, config: JsonObject = {}): JsonObject {
  return { id, typeId, name: id, ...place, config, inputs: {} };
}

function delay(id: string, ms: number): JsonObject {
  return plain(id, 'core.delay', { ms });
}

function begin(): JsonObject {
  return plain('begin', 'core.noop');
}

function gate(): JsonObject {
  return plain('gate', 'core.approvalGate');
}

function child(id: string, workflowId: string): JsonObject {
  return plain(id, 'core.subWorkflow', { workflowId });
}

function call(id: string, worldPort: number): JsonObject {
  return {
    ...plain(id, 'core.http.request', { url: `http://127.0.0.1:${worldPort}/call`, method: 'POST' }),
    inputs: { body: { type: 'expression', expression: `{"node": "${id}"}` } },
    settings: { timeoutMs: 60_000, retry: { maxAttempts: 5, initialMs: 20 } },
  };
}
