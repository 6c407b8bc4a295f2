import type { NodePlan, Plan } from '../compile/plan.ts';
import { nodeKey, type RunState } from '../../model/run-state.ts';

/** Expressions can name any node before them, so a workflow whose expressions do is taken to read everything. */
const NAMES_NODES = /\bnodes\s*[.[]/;

/**
 * Whether anything that is still to happen could read the outputs of a node that has completed: a node behind one of its edges
 * or connected to it that has not settled, or the run or a loop that collects outputs. Doubt counts as yes.
 */
export function mayBeRead(plan: Plan, state: RunState, nodeId: string): boolean {
  const node = plan.nodes.get(nodeId);
  if (node === undefined || node.scope.loop !== undefined || node.cycle !== undefined) return true;
  if (node.outgoing.length === 0 || namesNodes(plan)) return true;
  const readers = [...node.outgoing.map((edge) => edge.target), ...connectedTo(plan, nodeId)];
  return readers.some((reader) => !hasSettled(state, reader));
}

function connectedTo(plan: Plan, nodeId: string): NodePlan[] {
  return [...plan.nodes.values()].filter((node) =>
    node.ports.some((port) => port.from === 'connection' && port.nodeId === nodeId),
  );
}

function hasSettled(state: RunState, node: NodePlan): boolean {
  if (node.scope.loop !== undefined || node.cycle !== undefined) return false;
  const status = state.nodes.get(nodeKey(node.id, []))?.status;
  return status !== undefined && status !== 'running' && status !== 'backoff' && status !== 'suspended';
}

function namesNodes({ definition }: Plan): boolean {
  const parts = [definition.edges, ...definition.nodes.map(({ config, inputs }) => [config, inputs])];
  return NAMES_NODES.test(JSON.stringify(parts));
}
