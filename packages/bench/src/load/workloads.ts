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

export function workloadOf(name: Workload['name']): Workload {
  const found = WORKLOADS.find((workload) => workload.name === name);
  if (found === undefined) throw new Error(`there is no workload ${name}`);
  return found;
}

/** The workload as a workflow definition of the protocol. */
export function definitionOf({ workflowId, title, nodes, effects }: Workload, echoUrl: string): object {
  const step: Step = effects ? httpStep(echoUrl) : { typeId: 'core.noop', config: {} };
  return chainOf(
    workflowId,
    title,
    Array.from({ length: nodes }, () => step),
  );
}

/** One node of a chain. */
export interface Step {
  readonly typeId: string;
  readonly config: object;
}

export function httpStep(url: string): Step {
  return { typeId: 'core.http.request', config: { url, method: 'GET' } };
}

/** A definition whose nodes run one after the other. */
export function chainOf(id: string, title: string, steps: readonly Step[]): object {
  return {
    id,
    name: `Bench: ${title}`,
    version: '1.0.0',
    nodes: steps.map(({ typeId, config }, index) => ({
      id: nodeId(index),
      typeId,
      name: nodeId(index),
      position: { x: index * 100, y: 0 },
      config,
      inputs: {},
    })),
    edges: steps.slice(1).map((_, index) => ({
      id: `e${String(index + 1).padStart(2, '0')}`,
      sourceNodeId: nodeId(index),
      targetNodeId: nodeId(index + 1),
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
