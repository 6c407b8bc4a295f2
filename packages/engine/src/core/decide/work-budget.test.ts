import type { Json, JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { compile, simulate } from '../testing/simulation.ts';
import { HOSTILE_EXPRESSIONS } from '../testing/hostile-texts.ts';
import type { WorkflowSpec } from '../testing/definitions.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** About 300,000 steps. */
const COSTLY = `[${numbers(180).join(',')}].all(x, [${numbers(180).join(',')}].all(y, x + y >= 0))`;
/** More than any decision has. */
const TOO_COSTLY = `[${numbers(700).map(() => 0)}].all(x, [${numbers(700).map(() => 0)}].all(y, x + y == 0))`;

function errorOf(spec: WorkflowSpec, nodeId: string, inputs: JsonObject = {}): JsonObject | undefined {
  const simulation = simulate(spec, { inputs });
  simulation.start();
  return simulation.payload('node.failed', nodeId)?.['error'] as JsonObject | undefined;
}

describe('a node whose expression costs too much', () => {
  const tooMuch = {
    code: 'expression_budget_exceeded',
    retryable: false,
    details: { resource: 'steps', limit: 1_000_000, observed: expect.any(Number) as number },
  };

  it('fails under its code, with limit and observed, and is not tried again', () => {
    const retry = { settings: { retry: { maxAttempts: 5, initialMs: 1 } } };
    const input: Json = { type: 'expression', expression: TOO_COSTLY };
    const spec = { nodes: [{ id: 'a', inputs: { x: input }, ...retry }] };
    const simulation = simulate(spec);
    simulation.start();

    expect(simulation.payload('node.failed', 'a')).toMatchObject({ error: tooMuch, attempts: 1 });
  });

  it('fails wherever the expression stands', () => {
    const places: [nodeId: string, spec: WorkflowSpec][] = [
      ['a', { nodes: [{ id: 'a', typeId: 'core.conditional', config: { condition: TOO_COSTLY } }] }],
      [
        'a',
        { nodes: [{ id: 'a', typeId: 'core.setVariable', config: { name: 'v', expression: TOO_COSTLY } }] },
      ],
      [
        'l',
        {
          nodes: [
            { id: 'l', typeId: 'core.loop', config: { body: ['b'], while: TOO_COSTLY, maxIterations: 2 } },
            { id: 'b' },
          ],
        },
      ],
      [
        'l',
        {
          nodes: [
            {
              id: 'l',
              typeId: 'core.loop',
              config: { body: ['b'], items: `[${TOO_COSTLY}]`, maxIterations: 2 },
            },
            { id: 'b' },
          ],
        },
      ],
    ];

    for (const [nodeId, spec] of places)
      expect(errorOf(spec, nodeId), JSON.stringify(spec).slice(0, 60)).toMatchObject(tooMuch);
  });

  it('fails the node behind an edge, and the log says why', () => {
    const spec: WorkflowSpec = {
      nodes: [{ id: 'a' }, { id: 'b' }],
      edges: [{ from: 'a', to: 'b', condition: { type: 'expression', expression: TOO_COSTLY } }],
    };
    const simulation = simulate(spec);
    simulation.start();

    expect(simulation.payload('node.completed', 'a')?.['edgeErrors']).toEqual({
      e000: expect.objectContaining({
        code: 'expression_budget_exceeded',
        message: expect.any(String) as string,
      }),
    });
    expect(simulation.payload('node.failed', 'b')?.['error']).toMatchObject({
      code: 'expression_budget_exceeded',
      details: { limit: 1_000_000 },
    });
  });

  it('fails alike when another holder decides after a crash', () => {
    const spec: WorkflowSpec = {
      nodes: [{ id: 'a', typeId: 'test.effect' }, { id: 'b' }],
      edges: [{ from: 'a', to: 'b', condition: { type: 'expression', expression: TOO_COSTLY } }],
    };
    const outcomes = [false, true].map((crashes) => {
      const simulation = simulate(spec);
      simulation.start();
      if (crashes) simulation.crash();
      simulation.succeed('a');
      return [
        simulation.payload('node.completed', 'a')?.['edgeErrors'],
        simulation.payload('node.failed', 'b'),
      ];
    });

    expect(outcomes[1]).toEqual(outcomes[0]);
  });
});

describe('the budget of a decision', () => {
  it('is shared by all inputs of a node (E-5)', () => {
    const ports = (count: number): WorkflowSpec => ({
      nodes: [
        {
          id: 'a',
          inputs: Object.fromEntries(
            numbers(count).map((index) => [`p${index}`, { type: 'expression', expression: COSTLY }]),
          ),
        },
      ],
    });

    expect(errorOf(ports(2), 'a')).toBeUndefined();
    expect(errorOf(ports(8), 'a')).toMatchObject({ code: 'expression_budget_exceeded' });
  });

  it('is shared by all edges of a node, in order of their ids', () => {
    const targets = numbers(8).map((index) => `t${index}`);
    const simulation = simulate({
      nodes: [{ id: 'a' }, ...targets.map((id) => ({ id }))],
      edges: targets.map((id) => ({
        from: 'a',
        to: id,
        condition: { type: 'expression', expression: COSTLY },
      })),
    });
    simulation.start();

    const failed = targets.filter((id) => simulation.payload('node.failed', id) !== undefined);
    expect(failed.length).toBeGreaterThan(2);
    expect(failed).toEqual(targets.slice(-failed.length));
  });

  it('is a new one for the next node (E-5)', () => {
    const ids = numbers(8).map((index) => `n${index}`);
    const simulation = simulate({
      nodes: ids.map((id) => ({ id, inputs: { x: { type: 'expression', expression: COSTLY } } })),
    });
    simulation.start();

    expect(simulation.story()).toContain('run.completed');
  });

  it('covers conditions that are no expressions', () => {
    const text = 'a'.repeat(200_000);
    const conditions: JsonObject[] = [
      { type: 'contains', left: 'text', right: `${'a'.repeat(50)}b` },
      { type: 'regex', left: 'text', right: '(a|aa)+$!' },
      { type: 'equals', left: 'list', right: numbers(20_000) },
    ];
    for (const condition of conditions) {
      const targets = numbers(80).map((index) => `t${index}`);
      const simulation = simulate(
        {
          nodes: [{ id: 'a', typeId: 'core.start' }, ...targets.map((id) => ({ id }))],
          edges: targets.map((id) => ({ from: 'a', to: id, condition })),
        },
        { inputs: { text, list: numbers(20_000) }, limits: { maxPayloadBytes: 4_000_000 } },
      );
      simulation.start();

      const errors = Object.values(
        (simulation.payload('node.completed', 'a')?.['edgeErrors'] ?? {}) as JsonObject,
      );
      expect(errors.length, String(condition['type'])).toBeGreaterThan(10);
      expect(errors[0]).toMatchObject({
        code: condition['type'] === 'regex' ? 'pattern_too_costly' : 'expression_budget_exceeded',
      });
    }
  });

  it('is set by the host', () => {
    const plan = {
      ...compile({
        nodes: [{ id: 'a', inputs: { x: { type: 'expression', expression: '[1,2,3].map(x, x)' } } }],
      }),
      workLimits: { steps: 5, bytes: 1000 },
    };
    const simulation = simulate(plan);
    simulation.start();

    expect(simulation.payload('node.failed', 'a')?.['error']).toMatchObject({ details: { limit: 5 } });
  });
});

describe('a run with a hostile expression', () => {
  it.each(HOSTILE_EXPRESSIONS)('ends by itself: $name', ({ expression, inputs, code }) => {
    const error = errorOf(
      { nodes: [{ id: 'a', typeId: 'core.setVariable', config: { name: 'v', expression } }] },
      'a',
      inputs?.() ?? {},
    );

    expect(error?.['code']).toBe(code);
    expect(JSON.stringify(error ?? null).length).toBeLessThan(2_000);
  });
});

describe('inputs that are large together', () => {
  it('fail the node before they are written down', () => {
    const spec: WorkflowSpec = {
      nodes: [
        { id: 'a', typeId: 'core.start' },
        {
          id: 'b',
          inputs: Object.fromEntries(
            numbers(500).map((index) => [
              `p${index}`,
              { type: 'connection', nodeId: 'a', outputKey: 'text' },
            ]),
          ),
        },
      ],
      edges: [{ from: 'a', to: 'b' }],
    };

    expect(errorOf(spec, 'b', { text: 'a'.repeat(100_000) })).toMatchObject({
      code: 'input_too_large',
      details: { limit: expect.any(Number) as number, observed: expect.any(Number) as number },
    });
    expect(errorOf(spec, 'b', { text: 'a' })).toBeUndefined();
  });
});
