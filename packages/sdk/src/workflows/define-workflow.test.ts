import { describe, expect, it } from 'vitest';
import { defineWorkflow } from './index.ts';

/** As `defineNode` makes them. */
const charge = {
  typeId: 'acme.charge',
  version: '1.0.0',
  run: (context: {
    readonly inputs: { amount: number; customer?: string };
    readonly config: { currency: string };
  }) => Promise.resolve({ chargeId: `${context.inputs.amount}`, fee: 1 }),
};
const ship = {
  typeId: 'acme.ship',
  version: '1.0.0',
  run: (context: {
    readonly inputs: { chargeId: string; fee?: number };
    readonly config: Record<never, never>;
  }) => ({
    parcel: context.inputs.chargeId,
  }),
};

describe('a workflow in TypeScript', () => {
  it('is a definition in full form, and a node comes after those whose outputs it takes', () => {
    const order = defineWorkflow(
      { id: 'order', version: '1.0.0', variables: { amount: { type: 'number', required: true } } },
      (w) => {
        const paid = w.node('charge', charge, {
          config: { currency: 'EUR' },
          inputs: { amount: w.variable('amount'), customer: 'c-1' },
        });
        w.node('ship', ship, { name: 'Ship it', inputs: { chargeId: paid.out.chargeId, fee: paid.out.fee } });
      },
    );

    expect(order).toEqual({
      id: 'order',
      name: 'order',
      version: '1.0.0',
      variables: [{ name: 'amount', type: 'number', required: true }],
      nodes: [
        {
          id: 'charge',
          typeId: 'acme.charge',
          name: 'charge',
          position: { x: 0, y: 0 },
          config: { currency: 'EUR' },
          inputs: {
            amount: { type: 'variable', variableName: 'amount' },
            customer: { type: 'static', value: 'c-1' },
          },
        },
        {
          id: 'ship',
          typeId: 'acme.ship',
          name: 'Ship it',
          position: { x: 0, y: 0 },
          config: {},
          inputs: { fee: { type: 'connection', nodeId: 'charge', outputKey: 'fee' } },
        },
      ],
      edges: [
        {
          id: 'e1',
          sourceNodeId: 'charge',
          sourceOutput: 'chargeId',
          targetNodeId: 'ship',
          targetInput: 'chargeId',
        },
      ],
      triggers: [],
      metadata: {},
      settings: {},
    });
  });

  it('adds no edge where others lead there already', () => {
    const { edges, nodes } = defineWorkflow({ id: 'a', version: '1' }, (w) => {
      const a = w.node('a', 'core.start');
      const b = w.node('b', 'core.identity', { inputs: { x: a.out.output } });
      const c = w.node('c', 'core.identity', { inputs: { x: b.output('x'), y: a.out.output } });
      const d = w.node('d', 'core.noop');
      w.edge(c, d, { when: 'outputs.x > 1', label: 'large' });
    });

    expect(edges.map(({ sourceNodeId, targetNodeId }) => `${sourceNodeId}-${targetNodeId}`)).toEqual([
      'c-d',
      'a-b',
      'b-c',
    ]);
    expect(edges[0]).toMatchObject({
      label: 'large',
      condition: { type: 'expression', expression: 'outputs.x > 1' },
    });
    expect(nodes[2]?.inputs).toEqual({ y: { type: 'connection', nodeId: 'a', outputKey: 'output' } });
  });

  it('takes branches by edges of their own', () => {
    const { edges } = defineWorkflow({ id: 'a', version: '1' }, (w) => {
      const choice = w.node('choice', 'core.conditional', { config: { condition: 'true' } });
      const yes = w.node('yes', 'core.identity', { inputs: { it: choice.out.true } });
      const no = w.node('no', 'core.noop');
      w.edge(choice.out.false, no);
      w.node('both', 'core.merge', {
        join: 'any_success',
        inputs: { a: yes.output('it'), b: no.output('x') },
      });
    });

    expect(edges).toEqual([
      { id: 'e1', sourceNodeId: 'choice', sourceOutput: 'false', targetNodeId: 'no' },
      { id: 'e2', sourceNodeId: 'choice', sourceOutput: 'true', targetNodeId: 'yes', targetInput: 'it' },
      {
        id: 'e3',
        sourceNodeId: 'yes',
        sourceOutput: 'it',
        targetNodeId: 'both',
        targetInput: 'a',
        triggerRule: 'any_success',
      },
      {
        id: 'e4',
        sourceNodeId: 'no',
        sourceOutput: 'x',
        targetNodeId: 'both',
        targetInput: 'b',
        triggerRule: 'any_success',
      },
    ]);
  });

  it('puts nodes into loops, which come after what their bodies take from outside', () => {
    const { edges, nodes } = defineWorkflow({ id: 'a', version: '1' }, (w) => {
      const start = w.node('start', 'core.start');
      const each = w.loop('each', { items: 'variables.list', maxIterations: 9 }, () => {
        const inner = w.node('inner', charge, {
          config: { currency: 'EUR' },
          inputs: { amount: w.item(), customer: start.output('customer') },
        });
        w.node('last', ship, { inputs: { chargeId: inner.out.chargeId } });
      });
      w.node('end', 'core.end', { inputs: { all: each.out.output } });
    });

    expect(nodes[1]).toMatchObject({
      typeId: 'core.loop',
      config: { items: 'variables.list', maxIterations: 9, body: ['inner', 'last'] },
    });
    expect(nodes[2]?.inputs).toEqual({
      amount: { type: 'expression', expression: 'item' },
      customer: { type: 'connection', nodeId: 'start', outputKey: 'customer' },
    });
    expect(edges.map(({ sourceNodeId, targetNodeId }) => `${sourceNodeId}-${targetNodeId}`)).toEqual([
      'start-each',
      'inner-last',
      'each-end',
    ]);
  });

  it('takes types whose code is elsewhere, and expressions', () => {
    const { nodes } = defineWorkflow({ id: 'a', version: '1', description: 'Python' }, (w) => {
      w.node(
        'py',
        { typeId: 'acme.py' },
        {
          inputs: { n: w.expression('1 + 1') },
          settings: { typeVersion: '1.0.0', retry: { maxAttempts: 3 } },
        },
      );
    });

    expect(nodes[0]).toMatchObject({
      typeId: 'acme.py',
      inputs: { n: { type: 'expression', expression: '1 + 1' } },
      settings: { typeVersion: '1.0.0' },
    });
  });

  it('refuses what cannot be meant', () => {
    const twice = () =>
      defineWorkflow({ id: 'a', version: '1' }, (w) => {
        w.node('x', 'core.noop');
        w.node('x', 'core.noop');
      });
    const outOfLoop = () =>
      defineWorkflow({ id: 'a', version: '1' }, (w) => {
        let inside = w.node('first', 'core.noop').output('x');
        w.loop('each', { items: '[1]', maxIterations: 1 }, () => {
          inside = w.node('inner', 'core.noop').output('x');
        });
        w.node('end', 'core.end', { inputs: { x: inside } });
      });

    expect(twice).toThrow('Node id "x" is used twice');
    expect(outOfLoop).toThrow('inside a loop; take it from the loop');
  });
});
