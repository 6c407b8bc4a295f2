import type { PureNodeType } from '../../model/node-type.ts';
import { noConfig } from '../config/config-schema.ts';

export const startNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.start',
  title: 'Start',
  summary: 'Begins a workflow: hands the run inputs on, together on port output and each under its own name.',
  config: noConfig,
  outputPorts: ({ inputs }) => [...inputs, 'output'],
  passesOn: true,
  privateOutputs: true,
  run: ({ inputs }) => ({ outputs: { ...inputs, output: inputs } }),
};
