/**
 * What a simulated client does, again and again: create a run over HTTP, then follow its stream to the terminal event.
 * A and B need nothing from outside; in E every node calls a loopback server and each outcome is durable before the next
 * node starts.
 */
export interface Workload {
  readonly name: 'A' | 'B' | 'E';
  readonly title: string;
  readonly workflowId: string;
  readonly nodes: number;
  readonly effects: boolean;
}

export const WORKLOADS: readonly Workload[] = [
  { name: 'A', title: 'one no-op node', workflowId: 'bench-a', nodes: 1, effects: false },
  { name: 'B', title: 'ten no-op nodes in sequence', workflowId: 'bench-b', nodes: 10, effects: false },
  { name: 'E', title: 'ten HTTP calls in sequence', workflowId: 'bench-e', nodes: 10, effects: true },
];

/** The workload as a workflow definition of the protocol. */
export function definitionOf(workload: Workload, echoUrl: string): object {
  const ids = Array.from({ length: workload.nodes }, (_, index) => nodeId(index));
  return {
    id: workload.workflowId,
    name: `Bench: ${workload.title}`,
    version: '1.0.0',
    nodes: ids.map((id, index) => ({
      id,
      typeId: workload.effects ? 'core.http.request' : 'core.noop',
      name: id,
      position: { x: index * 100, y: 0 },
      config: workload.effects ? { url: echoUrl, method: 'GET' } : {},
      inputs: {},
    })),
    edges: ids.slice(1).map((target, index) => ({
      id: `e${String(index + 1).padStart(2, '0')}`,
      sourceNodeId: nodeId(index),
      targetNodeId: target,
    })),
    triggers: [{ id: 'manual', type: 'manual', enabled: true }],
    variables: [],
    metadata: {},
    settings: {},
  };
}

export function nodeId(index: number): string {
  return `n${String(index + 1).padStart(2, '0')}`;
}
