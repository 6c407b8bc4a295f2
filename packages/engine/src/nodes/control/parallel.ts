import type { PureNodeType } from '../../model/node-type.ts';
import { noConfig } from '../config/config-schema.ts';

export const parallelNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.parallel',
  title: 'Parallel',
  summary: 'Copies its input to every outgoing edge, so that the branches behind it run side by side.',
  config: noConfig,
  outputPorts: ['output'],
  passesOn: true,
  run: ({ inputs }) => ({ outputs: { output: inputs.input === undefined ? inputs : inputs.input } }),
};
