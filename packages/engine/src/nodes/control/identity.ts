import type { PureNodeType } from '../../model/node-type.ts';
import { noConfig } from '../config/config-schema.ts';

export const identityNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.identity',
  title: 'Identity',
  summary: 'Echoes each input port on the output port of the same name.',
  config: noConfig,
  outputPorts: ({ inputs }) => [...inputs],
  passesOn: true,
  run: ({ inputs }) => ({ outputs: inputs }),
};
