import type { WorkflowDefinition } from '@weft/protocol';
import type { InputPortRules } from '../../model/node-type.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';
import type { Loops } from './loops.ts';
import type { NodeDraft } from './nodes.ts';
import { nearestName, pointer, type Problems } from './problems.ts';

/** Ports of types that say which they have: nothing leads to others, and those that are required get something. */

interface PortContext {
  readonly definition: WorkflowDefinition;
  readonly drafts: ReadonlyMap<string, NodeDraft>;
  readonly loops: Loops;
  readonly problems: Problems;
}

export function* checkInputPorts(context: PortContext): CooperativeTask<void> {
  const { definition, drafts, problems } = context;
  const supplied = new Map<string, Set<string>>();
  for (const draft of drafts.values()) {
    yield;
    checkOutputKeys(draft, context);
    const { inputPorts } = draft.type;
    if (inputPorts === undefined) continue;
    const own = new Set(Object.keys(draft.node.inputs));
    supplied.set(draft.id, own);
    for (const name of own) {
      const path = pointer('nodes', draft.index, 'inputs', name);
      if (accepts(inputPorts, name)) continue;
      problems.error(path, 'unknown_port', `Node "${draft.id}" ${lacks('input', name, inputPorts.named)}`);
    }
  }
  if (supplied.size === 0) return;
  for (const [index, { id, targetNodeId, targetInput }] of definition.edges.entries()) {
    yield;
    const inputPorts = drafts.get(targetNodeId)?.type.inputPorts;
    if (inputPorts === undefined) continue;
    supplied.get(targetNodeId)?.add(targetInput ?? 'input');
    // An edge that names no port may be there for the order alone.
    if (targetInput === undefined || accepts(inputPorts, targetInput)) continue;
    problems.error(
      pointer('edges', index, 'targetInput'),
      'unknown_port',
      `Edge "${id}" leads to node "${targetNodeId}", which ${lacks('input', targetInput, inputPorts.named)}`,
    );
  }
  for (const [nodeId, ports] of supplied) {
    yield;
    const draft = drafts.get(nodeId);
    if (draft !== undefined) checkRequired(draft, ports, context);
  }
}

function accepts({ named, isOpen }: InputPortRules, port: string): boolean {
  return isOpen || named.includes(port);
}

function checkRequired(draft: NodeDraft, supplied: Set<string>, { loops, problems }: PortContext): void {
  const { incoming, type, id, index } = draft;
  if (incoming.length === 0 && loops.parents.has(id)) for (const port of BODY_PORTS) supplied.add(port);
  // Also those that lead in the order in which the nodes are written.
  for (const { targetPort } of incoming) supplied.add(targetPort);
  const missing = type.inputPorts?.required.filter((port) => !supplied.has(port)) ?? [];
  for (const port of missing) {
    problems.error(
      pointer('nodes', index, 'inputs'),
      'missing_input',
      `Node "${id}" needs a value for input "${port}" of type "${type.typeId}"; declare it under "inputs", or lead an edge to it with "targetInput".`,
    );
  }
}

/** What the first node of a loop's body gets. */
const BODY_PORTS = ['item', 'input', 'index'];

/** Inputs that name an output which their source, of such a type, never has. */
function checkOutputKeys(draft: NodeDraft, { drafts, problems }: PortContext): void {
  for (const [name, value] of Object.entries(draft.node.inputs)) {
    if (value.type !== 'connection') continue;
    const source = drafts.get(value.nodeId)?.type;
    // What types of the host put out was not always known; what they are asked for is found out when they have run.
    if (source?.inputPorts === undefined || !Array.isArray(source.outputPorts)) continue;
    if (source.outputPorts.includes(value.outputKey)) continue;
    const path = pointer('nodes', draft.index, 'inputs', name, 'outputKey');
    const problem = lacks('output', value.outputKey, source.outputPorts);
    problems.error(path, 'unknown_port', `Node "${value.nodeId}" ${problem}`);
  }
}

const SHOWN = 20;

function lacks(kind: 'input' | 'output', port: string, known: readonly string[]): string {
  const shown = known.slice(0, SHOWN).map((name) => `"${name}"`);
  const has =
    shown.length === 0 ? 'it has none' : `it has ${shown.join(', ')}${known.length > SHOWN ? ' …' : ''}`;
  const meant = nearestName(port, known);
  const hint = meant === undefined ? '.' : `; did you mean "${meant}"?`;
  return `has no ${kind} "${port}" (${has})${hint}`;
}
