import type { PureNodeType } from '../../model/node-type.ts';
import { noConfig } from '../config/config-schema.ts';

export const mergeNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.merge',
  title: 'Merge',
  summary:
    'Joins branches: each input port is an output port, and port output holds all of them as one object.',
  config: noConfig,
  outputPorts: ({ inputs }) => [...inputs, 'output'],
  passesOn: true,
  run: ({ inputs }) => ({ outputs: { ...inputs, output: inputs } }),
};
