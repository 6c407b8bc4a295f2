import type { PureNodeType } from '../../model/node-type.ts';
import { noConfig } from '../config/config-schema.ts';

export const noopNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.noop',
  title: 'No operation',
  summary: 'Does nothing and has no outputs.',
  config: noConfig,
  outputPorts: [],
  run: () => ({ outputs: {} }),
};
