import type { PureNodeType } from '../../model/node-type.ts';
import { noConfig } from '../config/config-schema.ts';

export const endNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.end',
  title: 'End',
  summary:
    'Ends a workflow: its inputs become its outputs, and what arrives on port input is also on port output.',
  config: noConfig,
  outputPorts: ({ inputs }) => (inputs.has('input') ? [...inputs, 'output'] : [...inputs]),
  passesOn: true,
  run: ({ inputs }) => ({
    outputs: inputs.input === undefined ? inputs : { ...inputs, output: inputs.input },
  }),
};
