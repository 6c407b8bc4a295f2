import { describe, expect, expectTypeOf, it } from 'vitest';
import { defineNode } from './define-node.ts';
import { isNodeDefinition, type NodeDefinition } from './node-definition.ts';
import { nodeTypeDocument } from './node-type-document.ts';
import { Type } from './index.ts';

const charge = defineNode({
  typeId: 'acme.charge',
  version: '1.0.0',
  title: 'Charge a card',
  config: Type.Object({ currency: Type.String() }),
  inputs: { amount: Type.Number(), customer: Type.String(), note: Type.Optional(Type.String()) },
  outputs: { chargeId: Type.String(), receipt: Type.Optional(Type.String()) },
  secrets: ['stripe'],
  async run({ inputs, config, secrets }) {
    expectTypeOf(inputs).toEqualTypeOf<{ amount: number; customer: string; note?: string }>();
    expectTypeOf(config).toEqualTypeOf<{ currency: string }>();
    expectTypeOf(secrets).toEqualTypeOf<Readonly<Record<'stripe', string>>>();
    return Promise.resolve({ chargeId: `${inputs.customer}-${inputs.amount}${config.currency}` });
  },
});

describe('a node type that was defined', () => {
  it('is a definition like any other, and keeps the name of its type for the compiler', () => {
    const definition: NodeDefinition = charge;

    expect(isNodeDefinition(definition)).toBe(true);
    expectTypeOf(charge.typeId).toEqualTypeOf<'acme.charge'>();
  });

  it('tells a host its schemas, closed, with what may be left out', () => {
    expect(nodeTypeDocument(charge)).toEqual({
      typeId: 'acme.charge',
      version: '1.0.0',
      title: 'Charge a card',
      config: { type: 'object', properties: { currency: { type: 'string' } }, required: ['currency'] },
      inputs: {
        type: 'object',
        properties: { amount: { type: 'number' }, customer: { type: 'string' }, note: { type: 'string' } },
        required: ['amount', 'customer'],
        additionalProperties: false,
      },
      outputs: {
        type: 'object',
        properties: { chargeId: { type: 'string' }, receipt: { type: 'string' } },
        required: ['chargeId'],
        additionalProperties: false,
      },
      secrets: ['stripe'],
    });
  });

  it('does not compile when it uses or returns what its schemas do not say', () => {
    const ports = { inputs: { amount: Type.Number() }, outputs: { id: Type.String() } };

    const wrong = [
      defineNode({
        typeId: 'acme.a',
        version: '1.0.0',
        ...ports,
        // @ts-expect-error an input that is not declared
        run: ({ inputs }) => ({ id: inputs.customer }),
      }),
      defineNode({
        typeId: 'acme.b',
        version: '1.0.0',
        ...ports,
        // @ts-expect-error an output of another type
        run: ({ inputs }) => ({ id: inputs.amount }),
      }),
      defineNode({
        typeId: 'acme.c',
        version: '1.0.0',
        ...ports,
        // @ts-expect-error an output that is missing
        run: () => ({}),
      }),
      defineNode({
        typeId: 'acme.d',
        version: '1.0.0',
        ...ports,
        // @ts-expect-error a secret that is not declared
        run: ({ secrets }) => ({ id: secrets.stripe }),
      }),
      defineNode({
        typeId: 'acme.e',
        version: '1.0.0',
        ...ports,
        // @ts-expect-error config, where the node has none
        run: ({ config }) => ({ id: config.currency }),
      }),
    ];

    expect(wrong).toHaveLength(5);
  });
});
