import type { Json, JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import type { WorkflowProblem } from '../../host/host.ts';
import { BUILTIN_NODE_TYPES } from '../../nodes/index.ts';
import { type CompileOptions, compileCooperatively, compileWorkflow } from './compile.ts';
import { edge, node, workflow } from './testing/compile-testing.ts';
import { createExpressionCompiler } from '../expressions/expressions.ts';
import { HOSTILE_PATTERNS, HOSTILE_SCHEMAS, HOSTILE_SOURCES } from '../testing/hostile-texts.ts';

const options: CompileOptions = {
  digest: 'abc',
  nodeTypes: new Map(BUILTIN_NODE_TYPES.map((type) => [type.typeId, type])),
  expressions: createExpressionCompiler(),
  maxNodes: 20_000,
  maskingDefault: 'mask',
  runtimeCapabilities: new Set(),
};

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function errorsOf(definition: JsonObject): readonly WorkflowProblem[] {
  return compileWorkflow(definition, options).errors;
}

const costs = { limit: expect.any(Number) as number, observed: expect.any(Number) as number };

describe('a definition with a text that costs too much', () => {
  it.each(HOSTILE_SCHEMAS.filter(({ value }) => value === undefined))(
    'is refused at every place a schema can stand: $name',
    ({ schema, code }) => {
      const gate = (id: string, typeId: string, config: JsonObject): JsonObject =>
        node(id, { typeId, config });
      const definition = workflow(
        [
          gate('i', 'core.interrupt', { kind: 'custom', data: { customKind: 'x' }, resumeSchema: schema }),
          gate('c', 'core.clarificationGate', { questions: [{ id: 'q', question: 'why?', schema }] }),
          gate('v', 'core.conversationGate', { schema }),
        ],
        [],
        { configurableSchema: schema, channels: { x: { reducer: 'replace', schema } } },
      );

      const errors = errorsOf(definition).map((problem) => [
        problem.path.replace(/(\/configurableSchema).*/, '$1'),
        problem.code,
      ]);

      const own = (other: string): string =>
        code === undefined || code === 'validation_error' ? other : code;
      expect(errors).toEqual([
        ['/configurableSchema', own('configurable_schema')],
        ['/nodes/0/config/resumeSchema', own('node_config')],
        ['/nodes/1/config/questions/0/schema', own('node_config')],
        ['/nodes/2/config/schema', own('node_config')],
        ['/channels/x/schema', own('schema')],
      ]);
    },
  );

  it.each(HOSTILE_PATTERNS.filter(({ text }) => text === undefined))(
    'is refused for a pattern: $name',
    ({ pattern }) => {
      const condition = { type: 'regex', left: 'x', right: pattern };
      const [problem] = errorsOf(workflow([node('a'), node('b')], [edge('e', 'a', 'b', { condition })]));

      expect(problem?.path).toBe('/edges/0/condition/right');
      if (problem?.code === 'pattern_too_costly') expect(problem.details).toEqual(costs);
      else expect(problem?.code).toBe('condition');
    },
  );

  it.each(HOSTILE_SOURCES)('is refused for an expression: $name', ({ expression }) => {
    const input: Json = { type: 'expression', expression };
    const [problem] = errorsOf(workflow([node('a', { inputs: { x: input } })]));

    expect(problem?.path).toBe('/nodes/0/inputs/x/expression');
    if (problem?.code === 'expression_budget_exceeded') expect(problem.details).toEqual(costs);
    else expect(problem?.code).toBe('expression');
  });
});

describe('the texts of a definition', () => {
  const sum = (index: number): string => `${'[1,2,3,4,5,6,7,8,9].size() + '.repeat(100)}${index}`;
  const ports = (count: number, source: (index: number) => string): JsonObject =>
    workflow([
      node('a', {
        inputs: Object.fromEntries(
          numbers(count).map((index) => [`p${index}`, { type: 'expression', expression: source(index) }]),
        ),
      }),
    ]);

  it('are bounded together: expressions', () => {
    const errors = errorsOf(ports(200, sum));

    expect(errors[0]).toMatchObject({
      code: 'expression_budget_exceeded',
      path: '/nodes/0/inputs/p166/expression',
      details: { limit: 200_000, observed: 200_567 },
    });
    expect(errorsOf(ports(100, sum))).toEqual([]);
  });

  it('are counted once, however often they are written', () => {
    expect(errorsOf(ports(1000, () => sum(0)))).toEqual([]);
  });

  it('are not read any more once they are too many', () => {
    let compiled = 0;
    const expressions = createExpressionCompiler();
    const counting = { compile: (source: string) => ((compiled += 1), expressions.compile(source)) };
    compileWorkflow(ports(600, sum), { ...options, expressions: counting });

    expect(compiled).toBe(167);
  });

  it('are bounded together: patterns of edges and of schemas', () => {
    const condition = (index: number): JsonObject => ({
      type: 'regex',
      left: 'x',
      right: `[a-z]{900}${index}`,
    });
    const definition = workflow(
      [node('a'), node('b')],
      numbers(120).map((index) => edge(`e${index}`, 'a', 'b', { condition: condition(index) })),
    );

    expect(errorsOf(definition)[0]).toMatchObject({
      code: 'pattern_too_costly',
      details: { limit: 100_000, observed: costs.observed },
    });
  });

  it('are bounded together: schemas', () => {
    const schema = { anyOf: numbers(1500).map(() => ({ type: 'string' })) };
    const definition = workflow([node('a')], [], {
      channels: Object.fromEntries(numbers(20).map((index) => [`c${index}`, { reducer: 'replace', schema }])),
    });

    expect(errorsOf(definition)[0]).toMatchObject({
      path: '/channels/c3/schema',
      code: 'schema_too_large',
      details: { limit: 5_000, observed: costs.observed },
    });
  });

  it('are read one by one, so that others get their turn', () => {
    const steps = compileCooperatively(ports(100, sum), options);
    let count = 0;
    while (steps.next().done !== true) count += 1;

    expect(count).toBeGreaterThan(100);
  });
});

describe('a definition in which everything is wrong', () => {
  it('is refused with the first problems, without making a list of all', () => {
    const bad = Object.fromEntries(numbers(40_000).map((index) => [`a${index}`, {}]));
    const { errors } = compileWorkflow(workflow([node('a', { inputs: bad })]), options);

    expect(errors).toHaveLength(1);
    expect(errors[0]?.path).toMatch(/^\/nodes\/0\/inputs\/a\d+$/);
  });

  it('names the places of problems in the whole, also when it is read in parts', () => {
    const nodes = numbers(200).map((index) => node(`n${index}`, index % 40 === 39 ? { nmae: 'x' } : {}));
    const { errors } = compileWorkflow(workflow(nodes, []), options);

    expect(errors.map(({ path }) => path)).toEqual(
      [39, 79, 119, 159, 199].map((index) => `/nodes/${index}/nmae`),
    );
  });
});
