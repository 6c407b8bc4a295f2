import { isHostError, type JsonObject, WorkBudget } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { edge, loop, node, type Part, planOf, workflow } from './testing/compile-testing.ts';

const ids = (nodes: readonly { readonly id: string }[]): string[] => nodes.map(({ id }) => id);

describe('a plan', () => {
  it('resolves edges to objects and orders nodes by id', () => {
    const plan = planOf(
      workflow(
        [node('c'), node('a'), node('b')],
        [edge('e2', 'a', 'c', { sourceOutput: 'left', targetInput: 'x' }), edge('e1', 'b', 'c')],
      ),
    );
    const [first, second] = plan.nodes.get('c')?.incoming ?? [];

    expect(ids(plan.root.nodes)).toEqual(['a', 'b', 'c']);
    expect(ids(plan.root.sources)).toEqual(['a', 'b']);
    expect(ids(plan.root.terminals)).toEqual(['c']);
    expect(first).toMatchObject({
      id: 'e1',
      sourcePort: 'output',
      sourcePortNamed: false,
      targetPort: 'input',
    });
    expect(second).toMatchObject({ id: 'e2', sourcePort: 'left', sourcePortNamed: true, targetPort: 'x' });
    expect(first?.source).toBe(plan.nodes.get('b'));
    expect(plan.nodes.get('c')?.scope).toBe(plan.root);
    expect(plan.digest).toBe('abc');
  });

  it('has the defaults of settings, and what the definition says instead', () => {
    const settings = { timeoutMs: 5, retry: { maxAttempts: 2, jitter: 0.5 }, onUnknownOutcome: 'fail' };
    const plan = planOf(workflow([node('a'), node('b', { settings })], [], { settings: { maxRetries: 3 } }));

    expect(plan.nodes.get('a')?.settings).toEqual({
      timeoutMs: 0,
      onUnknownOutcome: 'repeat',
      retry: { maxAttempts: 4, initialMs: 1000, factor: 2, maxMs: 60_000, jitter: 0, never: [] },
    });
    expect(plan.nodes.get('b')?.settings).toMatchObject({
      timeoutMs: 5,
      onUnknownOutcome: 'fail',
      retry: { maxAttempts: 2, jitter: 0.5, initialMs: 1000 },
    });
  });

  it('has the time limit of a type that calls out, unless the definition names another, or none', () => {
    const call = (id: string, timeoutMs?: number) =>
      node(id, { typeId: 'core.call', ...(timeoutMs !== undefined && { settings: { timeoutMs } }) });
    const plan = planOf(workflow([call('a'), call('b', 5), call('c', 0)]));

    expect([...plan.nodes.values()].map(({ settings }) => settings.timeoutMs)).toEqual([60_000, 5, 0]);
  });

  it('chains nodes in the order they are written when there is no edge at all', () => {
    const plan = planOf(workflow([node('b'), loop('l', ['y', 'x']), node('x'), node('a'), node('y')]));

    expect(ids(plan.root.sources)).toEqual(['b']);
    expect(plan.nodes.get('l')?.incoming[0]).toMatchObject({ id: '#0', sourcePortNamed: false });
    expect(plan.nodes.get('a')?.incoming[0]?.source.id).toBe('l');
    expect(plan.nodes.get('x')?.incoming[0]?.source.id).toBe('y');
    expect(ids(plan.nodes.get('l')?.loop?.body.sources ?? [])).toEqual(['y']);
  });

  it('adds no edge of its own as soon as there is one', () => {
    const plan = planOf(workflow([node('a'), node('b'), node('c')], [edge('e', 'a', 'b')]));

    expect(ids(plan.root.sources)).toEqual(['a', 'c']);
  });

  it('nests scopes for loops inside loops', () => {
    const plan = planOf(
      workflow(
        [loop('outer', ['inner', 'a']), loop('inner', ['b'], { while: 'index < 3' }), node('a'), node('b')],
        [edge('e', 'a', 'inner')],
      ),
    );
    const outer = plan.nodes.get('outer');
    const inner = plan.nodes.get('inner');

    expect(ids(plan.root.nodes)).toEqual(['outer']);
    expect(ids(outer?.loop?.body.nodes ?? [])).toEqual(['a', 'inner']);
    expect(inner?.scope.loop).toBe(outer);
    expect(inner?.loop?.items).toBeUndefined();
    expect(inner?.loop?.while?.({ index: 2 }, new WorkBudget())).toBe(true);
    expect(outer?.loop?.items?.({}, new WorkBudget())).toEqual([1, 2]);
  });

  it('takes loop items as a list and as CEL', () => {
    for (const items of [[1, 'x'], '[1, "x"]']) {
      const plan = planOf(workflow([loop('l', ['a'], { items }), node('a')]));

      expect(plan.nodes.get('l')?.loop?.items?.({}, new WorkBudget())).toEqual([1, 'x']);
    }
  });

  it('holds variables, masking, sensitive ports, disabled nodes and what prepare returned', () => {
    const plan = planOf(
      workflow(
        [
          node('a', {
            typeId: 'core.greet',
            config: { name: 'Ada' },
            outputSensitivity: { p: true, q: false },
            disabled: true,
          }),
        ],
        [],
        {
          variables: [{ name: 'v', type: 'number', defaultValue: 1, sensitive: true }],
          metadata: { complianceConfig: { maskingMode: 'hash' } },
        },
      ),
    );

    expect(plan.variables.get('v')).toEqual({
      name: 'v',
      type: 'number',
      required: false,
      sensitive: true,
      defaultValue: 1,
    });
    expect(plan.maskingMode).toBe('mask'); // there is no key to hash with
    expect([...(plan.nodes.get('a')?.sensitivePorts ?? [])]).toEqual([
      ['p', true],
      ['q', false],
    ]);
    expect(plan.hasSensitive).toBe(true);
    expect(plan.nodes.get('a')).toMatchObject({ disabled: true, prepared: { prepared: 'Ada' } });
    expect(planOf(workflow([node('a')])).maskingMode).toBe('mask');
  });

  it('compiles ports of every kind', () => {
    const inputs = {
      s: { type: 'static', value: [1] },
      e: { type: 'expression', expression: 'inputs.x + 1' },
      c: { type: 'connection', nodeId: 'a', outputKey: 'output' },
      v: { type: 'variable', variableName: 'v', optional: true },
    };
    const ports = planOf(workflow([node('a'), node('b', { inputs })])).nodes.get('b')?.ports ?? [];
    const expression = ports.find((port) => port.from === 'expression');

    expect(ports.map(({ name, from }) => `${name} ${from}`)).toEqual([
      's static',
      'e expression',
      'c connection',
      'v variable',
    ]);
    expect(
      expression?.from === 'expression' && expression.expression({ inputs: { x: 1 } }, new WorkBudget()),
    ).toBe(2);
  });

  it('checks the configurable of a run, leaving this host’s own keys aside', () => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: { recursionLimit: { type: 'integer' } },
    };
    const plan = planOf(workflow([node('a')], [], { configurableSchema: schema }));

    plan.checkConfigurable({ recursionLimit: 3, 'weft.workflowVersion': '1' });

    expect(() => plan.checkConfigurable({ recursionLimit: 'x' })).toThrow(
      expect.toSatisfy(
        (error) => isHostError(error, 'validation_error') && error.message.includes('recursionLimit'),
      ),
    );
    planOf(workflow([node('a')])).checkConfigurable({ anything: 1 });
  });

  it('of a chain of 20,000 nodes, each reading the one before the last, takes time in proportion', () => {
    const chainOf = (count: number): JsonObject => {
      const reads = (index: number): Part => ({
        x: { type: 'connection', nodeId: `n${index}`, outputKey: 'output' },
      });
      const nodes = Array.from({ length: count }, (_, at) =>
        node(`n${at}`, at < 2 ? {} : { inputs: reads(at - 2) }),
      );
      return workflow(
        nodes,
        nodes.slice(1).map((_, at) => edge(`e${at}`, `n${at}`, `n${at + 1}`)),
      );
    };
    const definition = chainOf(20_000);
    const startedAt = performance.now();

    const plan = planOf(definition);

    expect(plan.root.nodes).toHaveLength(20_000);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });
});
