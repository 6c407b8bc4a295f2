import type { JsonObject, WorkflowDefinition } from '@weft/protocol';
import type { RunEventDocument } from '@weft/sdk';
import { describe, expect, it } from 'vitest';
import { consumedInputs, consumedText, mentions } from './consumed-inputs.ts';

function definition(nodes: readonly JsonObject[], edges: readonly JsonObject[] = []): WorkflowDefinition {
  return {
    nodes: nodes.map((node) => ({ typeId: 'core.identity', config: {}, inputs: {}, ...node })),
    edges,
  } as unknown as WorkflowDefinition;
}

function event(sequence: number, type: string, nodeId: string, payload: JsonObject = {}): RunEventDocument {
  return { sequence, type, nodeId, payload: { nodeId, ...payload } } as unknown as RunEventDocument;
}

const expression = (text: string): JsonObject => ({ x: { type: 'expression', expression: text } });

describe('the nodes that read an input', () => {
  it.each<[string, JsonObject]>([
    ['a port', { inputs: { x: { type: 'variable', variableName: 'quantity' } } }],
    ['an expression on a port', { inputs: expression('variables.quantity <= 3') }],
    ['an expression in the config', { config: { condition: 'vars.quantity > 3' } }],
    ['an expression by index', { config: { items: "variables['quantity']" } }],
    ['the inputs', { config: { while: 'inputs.quantity > index' } }],
    ['getVariable', { typeId: 'core.getVariable', config: { name: 'quantity' } }],
    ['a child’s inputs', { typeId: 'core.subWorkflow', config: { inputMapping: { many: 'quantity' } } }],
  ])('are found by %s', (_, node) => {
    expect(mentions(definition([{ id: 'a', ...node }]), 'quantity')).toEqual(new Set(['a']));
  });

  it('are found by the condition of an edge from them', () => {
    const edge = {
      sourceNodeId: 'a',
      targetNodeId: 'b',
      condition: { expression: 'variables.quantity > 3' },
    };

    expect(mentions(definition([{ id: 'a' }, { id: 'b' }], [edge]), 'quantity')).toEqual(new Set(['a']));
  });

  it('are not found by another name, a text or a static value', () => {
    const found = mentions(
      definition([
        { id: 'a', inputs: expression('variables.quantityMax + variables.my_quantity') },
        { id: 'b', inputs: { quantity: { type: 'static', value: 'quantity' } } },
        { id: 'c', typeId: 'core.setVariable', config: { name: 'quantity', value: 1 } },
      ]),
      'quantity',
    );

    expect(found).toEqual(new Set());
  });
});

describe('a changed input', () => {
  const order = definition([
    { id: 'credit', inputs: expression('variables.quantity * 2') },
    { id: 'stock', inputs: expression('variables.quantity <= 3') },
  ]);

  it('was consumed by the nodes that began before the cut', () => {
    const log = [event(1, 'node.started', 'credit'), event(3, 'node.started', 'stock')];

    const [consumed] = consumedInputs(order, ['quantity'], log);

    expect(consumedText(consumed!, 4)).toBe(
      'Input quantity was read before #4 already, by credit (#1), stock (#3): their results are kept. To change them, fork from #1.',
    );
    expect(consumedInputs(order, ['country'], log)).toEqual([]);
    expect(consumedInputs(order, ['quantity'], [])).toEqual([]);
  });

  it('has no effect when the variable was set before the cut', () => {
    const log = [event(2, 'variable.changed', 'stock', { name: 'quantity', next: 1 })];

    const [consumed] = consumedInputs(order, ['quantity'], log);

    expect(consumedText(consumed!, 4)).toBe(
      'Input quantity has no effect after #2, where stock set the variable. Fork from #2 or earlier.',
    );
  });
});
