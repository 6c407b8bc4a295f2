import { Type, type Static } from 'typebox';
import { NodeFailure, type PureNodeType } from '../../model/node-type.ts';
import { closedConfig, name } from '../config/config-schema.ts';

const config = closedConfig({
  name,
  /** Given when the variable is not set. */
  default: Type.Optional(Type.Unknown()),
});

export const getVariableNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.getVariable',
  title: 'Get variable',
  summary: 'Outputs the value of a workflow variable, or config.default when it is not set.',
  config,
  outputPorts: ['output'],
  dependsOn: () => [],
  run: (input) => {
    const { name } = input.config as Static<typeof config>;
    const known = input.variables.get(name);
    const value = known === undefined ? input.config.default : known;
    if (value !== undefined) return { outputs: { output: value } };
    throw new NodeFailure(
      'variable_not_set',
      `The variable "${name}" is not set; set it before this node, or give config.default.`,
      { details: { variable: name } },
    );
  },
};
