import type { WorkflowDefinition } from '@weft/protocol';
import type { InputPorts } from './input-ports.ts';
import type { NodeDraft } from './nodes.ts';
import { nearestName, pointer, type Problems } from './problems.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/** An edge from a port that its source never produces would always be taken, and carry nothing. */
export function* checkSourcePorts(
  definition: WorkflowDefinition,
  drafts: ReadonlyMap<string, NodeDraft>,
  inputsOf: InputPorts,
  problems: Problems,
): CooperativeTask<void> {
  for (const [index, { id, sourceNodeId, sourceOutput }] of definition.edges.entries()) {
    yield;
    const source = drafts.get(sourceNodeId);
    if (sourceOutput === undefined || source === undefined) continue;
    const ports = outputPorts(source, inputsOf);
    if (ports === undefined || ports.includes(sourceOutput)) continue;
    const meant = nearestName(sourceOutput, ports);
    problems.error(
      pointer('edges', index, 'sourceOutput'),
      'unknown_port',
      `Edge "${id}" leaves node "${source.id}" by port "${sourceOutput}", which it does not have (${listed(ports)})${meant === undefined ? '.' : `; did you mean "${meant}"?`}`,
    );
  }
}

/** Undefined where it is known only when the node has run. */
function outputPorts({ id, type, config }: NodeDraft, inputsOf: InputPorts): readonly string[] | undefined {
  const { outputPorts: ports } = type;
  return typeof ports === 'function' ? ports({ config, inputs: inputsOf(id) }) : ports;
}

const SHOWN = 20;

function listed(ports: readonly string[]): string {
  if (ports.length === 0) return 'it has none';
  const shown = ports.slice(0, SHOWN).map((port) => `"${port}"`);
  return `it has ${shown.join(', ')}${ports.length > SHOWN ? ' …' : ''}`;
}
