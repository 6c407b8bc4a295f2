import type { JsonObject } from '@weft/protocol';

/** Workflows that are started by schedules and triggers. */

/** What a delivery's body must have. */
export const DELIVERED_WORKFLOW = 'delivered';
export const DELIVERED_MAPPING = { tag: 'body.tag' };

export function heldWorkflowId(schedule: string): string {
  return `held-${schedule}`;
}

/** Says when it begins, lasts for a while, and says when it ends. */
export function heldWorkflow(schedule: string, holdMs: number, holdPort: number): JsonObject {
  const url = `http://127.0.0.1:${holdPort}/${schedule}`;
  return workflow(heldWorkflowId(schedule), [
    request('begin', `${url}/begin`, '{"schedule": "this"}'),
    node('hold', 'core.delay', { config: { ms: holdMs } }),
    request('finish', `${url}/finish`, '{"token": nodes.begin.body.token}'),
  ]);
}

/** Calls the external service under the name that the delivery brought: two runs of one delivery would be seen there, too. */
export function deliveredWorkflow(servicePort: number): JsonObject {
  const body = '{"tag": variables.tag, "node": "call-delivered", "index": "-"}';
  return workflow(DELIVERED_WORKFLOW, [
    node('begin', 'core.noop', {}),
    request('call-delivered', `http://127.0.0.1:${servicePort}/`, body),
  ]);
}

function workflow(id: string, nodes: readonly JsonObject[]): JsonObject {
  return {
    ...{ id, name: id, version: '1.0', nodes: [...nodes], metadata: {}, settings: {} },
    edges: nodes.slice(1).map((next, index) => ({
      id: `e${index}`,
      sourceNodeId: nodes[index]?.['id'] ?? '',
      targetNodeId: next['id'] ?? '',
    })),
    triggers: [{ id: 'manual', type: 'manual' }],
    variables: [{ name: 'tag', type: 'string' }],
  };
}

function node(id: string, typeId: string, more: JsonObject): JsonObject {
  return { id, typeId, name: id, position: { x: 0, y: 0 }, config: {}, inputs: {}, ...more };
}

function request(id: string, url: string, expression: string): JsonObject {
  return node(id, 'core.http.request', {
    config: { url, method: 'POST' },
    inputs: { body: { type: 'expression', expression } },
    settings: { timeoutMs: 3_000, retry: { maxAttempts: 8, initialMs: 30, maxMs: 400 } },
  });
}
