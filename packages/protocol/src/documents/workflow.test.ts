import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/json.ts';
import { compileValidator } from '../validation/validate.ts';
import { WorkflowDefinitionSchema } from './workflow.ts';

const validate = compileValidator(WorkflowDefinitionSchema);
const fixtures = '/work/shared/openwop/fixtures';

function definition(changes: JsonObject = {}): JsonObject {
  const node = { id: 'a', typeId: 'core.noop', name: 'A', position: { x: 0, y: 0 }, config: {}, inputs: {} };
  return {
    id: 'sample',
    name: 'Sample',
    version: '1.0.0',
    nodes: [node],
    edges: [],
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
    ...changes,
  };
}

function withNode(changes: JsonObject): JsonObject {
  const [node] = definition().nodes as JsonObject[];
  return definition({ nodes: [{ ...node, ...changes }] });
}

describe('a workflow definition', () => {
  it('is accepted in its smallest form', () => {
    expect(validate(definition())).toEqual([]);
  });

  it('is refused with the place of an unknown field and the field that was meant', () => {
    const [problem] = validate(withNode({ setings: {} }));

    expect(problem).toEqual({
      path: '/nodes/0/setings',
      message: 'unknown field "setings"; did you mean "settings"?',
      keyword: 'additionalProperties',
    });
  });

  it('has closed node settings', () => {
    expect(validate(withNode({ settings: { retry: { maxAttempts: 3 }, onUnknownOutcome: 'fail' } }))).toEqual(
      [],
    );
    expect(validate(withNode({ settings: { retries: 3 } })).map((problem) => problem.path)).toEqual([
      '/nodes/0/settings/retries',
    ]);
  });

  it('reports only the port form that was meant', () => {
    const problems = validate(withNode({ inputs: { a: { type: 'connection', nodeId: 'x' } } }));

    expect(problems).toEqual([
      { path: '/nodes/0/inputs/a', message: 'the field "outputKey" is missing', keyword: 'required' },
    ]);
  });

  it('lists the port forms when the type is none of them', () => {
    const problems = validate(withNode({ inputs: { a: { type: 'literal', value: 1 } } }));

    expect(problems).toEqual([
      {
        path: '/nodes/0/inputs/a/type',
        message: 'must be one of "static", "expression", "connection", "variable"',
        keyword: 'enum',
      },
    ]);
  });

  it.each(['Sample', '1st', '', 'a b'])('refuses the id %j', (id) => {
    expect(validate(definition({ id }))).not.toEqual([]);
  });

  it('keeps metadata and settings open', () => {
    expect(validate(definition({ metadata: { 'acme.owner': 1 }, settings: { 'acme.x': true } }))).toEqual([]);
  });
});

describe.runIf(existsSync(fixtures))('the reference fixtures', () => {
  const files = existsSync(fixtures) ? readdirSync(fixtures).filter((name) => name.endsWith('.json')) : [];

  it.each(files)('%s is a valid definition', (file) => {
    expect(validate(JSON.parse(readFileSync(`${fixtures}/${file}`, 'utf8')))).toEqual([]);
  });
});
