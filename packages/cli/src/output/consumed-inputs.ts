import type { WorkflowDefinition } from '@weft/protocol';
import { isJsonObject, type Json } from '@weft/protocol/plain';
import type { RunEventDocument } from '@weft/sdk';
import { shown } from './terminal-text.ts';

/** An input of a fork that no longer changes everything it could have changed, because events before the cut are kept. */
export interface ConsumedInput {
  readonly name: string;
  /** Nodes that began before the cut and read it, by the sequence at which they first did. */
  readonly readers: readonly Reader[];
  /** Where a node set the variable; what follows sees that value. */
  readonly setBy?: Reader;
}

interface Reader {
  readonly nodeId: string;
  readonly seq: number;
}

/** What of the changed inputs was consumed by the events that a fork keeps. */
export function consumedInputs(
  definition: WorkflowDefinition,
  names: readonly string[],
  kept: readonly RunEventDocument[],
): readonly ConsumedInput[] {
  return names.flatMap((name) => {
    const set = kept.find(
      ({ type, payload }) => type === 'variable.changed' && isJsonObject(payload) && payload['name'] === name,
    );
    const mentioning = mentions(definition, name);
    const first = new Map<string, number>();
    for (const { type, nodeId, sequence } of kept)
      if (type === 'node.started' && nodeId !== undefined && mentioning.has(nodeId) && !first.has(nodeId))
        first.set(nodeId, sequence);
    const readers = [...first].map(([nodeId, seq]) => ({ nodeId, seq }));
    if (set === undefined && readers.length === 0) return [];
    const setBy = set && { nodeId: set.nodeId ?? '?', seq: set.sequence };
    return [{ name, readers, ...(setBy && { setBy }) }];
  });
}

export function consumedText({ name, readers, setBy }: ConsumedInput, fromSeq: number): string {
  if (setBy !== undefined)
    return shown`Input ${name} has no effect after #${setBy.seq}, where ${setBy.nodeId} set the variable. Fork from #${setBy.seq} or earlier.`;
  const nodes = readers.map(({ nodeId, seq }) => `${nodeId} (#${seq})`).join(', ');
  const results =
    readers.length === 1 ? 'its result is kept. To change it' : 'their results are kept. To change them';
  return shown`Input ${name} was read before #${fromSeq} already, by ${nodes}: ${results}, fork from #${readers[0]?.seq}.`;
}

/** Ids of the nodes that name the variable: on a port, in an expression, or where they pass variables on. */
export function mentions({ nodes, edges }: WorkflowDefinition, name: string): ReadonlySet<string> {
  const inExpression = new RegExp(
    `\\b(?:variables|vars|inputs)(?:\\.${escaped(name)}(?![\\w])|\\[['"]${escaped(name)}['"]\\])`,
  );
  const isIn = (value: Json | undefined): boolean => textsOf(value).some((text) => inExpression.test(text));
  const found = nodes.filter(({ typeId, config, inputs }) => {
    const ports = Object.values(inputs);
    return (
      ports.some((port) => port.type === 'variable' && port.variableName === name) ||
      ports.some((port) => port.type === 'expression' && inExpression.test(port.expression)) ||
      (typeId === 'core.getVariable' && config['name'] === name) ||
      textsOf(config['inputMapping']).includes(name) ||
      isIn(config)
    );
  });
  const conditional = edges.filter(({ condition }) => isIn(condition as Json | undefined));
  return new Set([...found.map(({ id }) => id), ...conditional.map(({ sourceNodeId }) => sourceNodeId)]);
}

function textsOf(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((member) => textsOf(member));
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
