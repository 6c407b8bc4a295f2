import type { Json } from '@weft/protocol';
import { Type, type Static } from 'typebox';
import { compileCondition } from '../../core/decide/conditions.ts';
import { evaluateToBoolean } from '../../core/expressions/expressions.ts';
import type { Condition } from '../../core/compile/plan.ts';
import type { PureNodeType } from '../../model/node-type.ts';
import { closedConfig } from '../config/config-schema.ts';
import { compileOrRefuse, evaluateOrFail } from '../config/expressions-in-config.ts';

const config = closedConfig({
  condition: Type.Union([
    Type.String({ minLength: 1 }),
    closedConfig({
      type: Type.Optional(
        Type.Enum(['expression', 'equals', 'notEquals', 'contains', 'regex', 'truthy', 'falsy']),
      ),
      left: Type.Optional(Type.String()),
      right: Type.Optional(Type.Unsafe<Json>({})),
      expression: Type.Optional(Type.String()),
    }),
  ]),
});

export const conditionalNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.conditional',
  title: 'Conditional',
  summary:
    'Evaluates config.condition over its inputs and passes its input on through port true or port false.',
  config,
  passesOn: true,
  outputPorts: ['true', 'false'],
  branches: ['true', 'false'],
  prepare: (given, tools): Condition => {
    const { condition } = given as Static<typeof config>;
    if (typeof condition !== 'string') {
      return compileOrRefuse(tools, '/condition', () => compileCondition(condition, tools.expressions));
    }
    const expression = compileOrRefuse(tools, '/condition', () => tools.expressions.compile(condition));
    return (_, scope, budget) => evaluateToBoolean(expression, scope, condition, budget);
  },
  run: ({ prepared, inputs, scope, budget }) => {
    const holds = evaluateOrFail(() => (prepared as Condition)(inputs, scope, budget));
    const passed = inputs.input === undefined ? inputs : inputs.input;
    return { outputs: holds ? { true: passed } : { false: passed } };
  },
};
