import type { Json } from '@weft/protocol';
import { Type, type Static } from 'typebox';
import type { Expression } from '../../core/compile/plan.ts';
import { type NodeInput, NodeFailure, type PureNodeType } from '../../model/node-type.ts';
import { closedConfig, name } from '../config/config-schema.ts';
import { compileOrRefuse, evaluateOrFail } from '../config/expressions-in-config.ts';
import { jsonType, variableMisfit } from './variable-type.ts';

const config = closedConfig({
  name,
  value: Type.Optional(Type.Unknown()),
  /** CEL that gives the value. */
  expression: Type.Optional(Type.String({ minLength: 1 })),
});

interface Prepared {
  readonly name: string;
  /** Absent when the workflow does not declare the variable: then any value fits. */
  readonly type?: string;
  readonly expression?: Expression;
}

export const setVariableNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.setVariable',
  title: 'Set variable',
  summary: 'Sets a workflow variable to the input port value, else config.value, else config.expression.',
  config,
  outputPorts: ['output'],
  setsVariables: ({ name }) => [String(name)],
  dependsOn: ({ value, expression }) =>
    value === undefined && expression === undefined ? ['value', 'input'] : ['value'],
  prepare: (given, tools): Prepared => {
    const { name, expression } = given as Static<typeof config>;
    if (given.value !== undefined && expression !== undefined) {
      tools.refuse('/expression', 'The variable gets either "value" or "expression", not both; remove one.');
    }
    const type = tools.variables.get(name)?.type;
    if (given.value !== undefined && type !== undefined && jsonType(given.value) !== type) {
      tools.refuse(
        '/value',
        `The variable "${name}" is declared as ${type}, but the value is ${jsonType(given.value)}.`,
      );
    }
    return {
      name,
      ...(type !== undefined && { type }),
      ...(expression !== undefined && {
        expression: compileOrRefuse(tools, '/expression', () => tools.expressions.compile(expression)),
      }),
    };
  },
  run: (input) => {
    const { name, type } = input.prepared as Prepared;
    const value = resolveValue(input);
    const misfit = variableMisfit(name, type, value);
    if (misfit !== undefined) throw misfit;
    return { outputs: { output: value }, variables: Object.fromEntries([[name, value]]) };
  },
};

/** Port `input` comes last, so that a plain edge is enough to set a variable. */
function resolveValue({ config: given, inputs, prepared, scope, budget }: NodeInput): Json {
  const { name, expression } = prepared as Prepared;
  if (inputs.value !== undefined) return inputs.value;
  if (given.value !== undefined) return given.value;
  if (expression !== undefined) return evaluateOrFail(() => expression(scope, budget));
  if (inputs.input !== undefined) return inputs.input;
  throw new NodeFailure(
    'validation_error',
    `There is no value for the variable "${name}": set config.value or config.expression, or connect the input port value.`,
    { details: { field: 'config.value' } },
  );
}
