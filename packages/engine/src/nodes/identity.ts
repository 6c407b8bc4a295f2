import type { PureNodeType } from '../node-type.ts';
import { noConfig } from './config-schema.ts';
import { identityProbe } from './identity-probes.ts';

export const identityNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.identity',
  title: 'Identity',
  summary: 'Echoes each input port on the output port of the same name.',
  config: noConfig,
  passesOn: true,
  variant: identityProbe,
  run: ({ inputs }) => ({ outputs: inputs }),
};
